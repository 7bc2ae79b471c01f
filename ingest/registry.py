"""Finds the corpora: every folder in ``ingest/corpora`` (or another root) is one, and there is no list to edit."""

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from talkhouse.ingest import corpora as shipped
from talkhouse.ingest.common_rules import COMMON_RULES, Rule
from talkhouse.ingest.contract.code_line import code_line
from talkhouse.ingest.contract.declaration import problems
from talkhouse.ingest.corpus import Corpus
from talkhouse.schema.closest import closest
from talkhouse.schema.errors import RegistryError

DEFAULT_ROOT = Path(shipped.__path__[0])


def corpora(roots: Iterable[Path] = (DEFAULT_ROOT,)) -> dict[str, Corpus]:
    """Load every corpus under the roots, by id, sorted.

    Raises RegistryError with the folder's name and the reason for the first that is broken; none is skipped.
    """
    known: dict[str, Corpus] = {}
    owners: dict[str, str] = {}
    for root in roots:
        for folder in sorted(path for path in root.iterdir() if (path / "__init__.py").is_file()):
            corpus = _load(folder, root)
            if corpus.id in known:
                raise _broken(folder, f"there is another corpus '{corpus.id}'")
            known[corpus.id] = corpus
            for rule in corpus.rules:
                if owners.setdefault(rule.id, corpus.id) != corpus.id:
                    raise _broken(folder, f"the corpus '{owners[rule.id]}' has a rule {rule.id!r} too")
    return dict(sorted(known.items()))


def pick(known: Mapping[str, Corpus], corpus_id: str) -> Corpus:
    """Return one corpus; RegistryError, which lists all, for one that is not there."""
    if corpus_id not in known:
        raise RegistryError(
            f"no corpus '{corpus_id}'",
            expected=f"one of: {', '.join(closest(corpus_id, known))}",
            next_step="check the spelling",
        )
    return known[corpus_id]


def folder_of(corpus: Corpus) -> Path:
    """Return the folder that declares a corpus."""
    if corpus.folder is not None:
        return corpus.folder
    return Path(str(sys.modules[corpus.read.__module__].__file__)).parent


def sample_of(corpus: Corpus) -> Path:
    """Return the folder of the invented sample that ships with a corpus."""
    return folder_of(corpus) / "sample"


def rules_of(corpus: Corpus) -> dict[str, Rule]:
    """Return the rules that a corpus's findings may name, by id, the common rules included."""
    return {rule.id: rule for rule in (*COMMON_RULES, *corpus.rules)}


def _load(folder: Path, root: Path) -> Corpus:
    try:
        module = _import(folder, root)
    except Exception as error:  # whatever a broken folder raises, its name must be in the message
        line = code_line(error, folder)
        raise _broken(folder, f"{type(error).__name__}: {error}" + (f", {line}" if line else "")) from error
    corpus = getattr(module, "CORPUS", None)
    if not isinstance(corpus, Corpus):
        raise _broken(folder, "its __init__.py has no CORPUS = Corpus(...)")
    if corpus.id != folder.name:
        raise _broken(folder, f"CORPUS.id is '{corpus.id}'; it must be the folder's name")
    for problem in problems(corpus):
        raise _broken(folder, problem)
    return replace(corpus, folder=folder)


def _import(folder: Path, root: Path) -> ModuleType:
    if root == DEFAULT_ROOT:
        return importlib.import_module(f"{shipped.__name__}.{folder.name}")
    name = f"talkhouse_corpus_{folder.name}"
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"no module in {folder}")
    for stale in [loaded for loaded in sys.modules if loaded == name or loaded.startswith(f"{name}.")]:
        del sys.modules[stale]
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _broken(folder: Path, reason: str) -> RegistryError:
    return RegistryError(
        f"the corpus folder '{folder.name}' is broken",
        where=folder,
        found=reason,
        next_step="fix the folder or remove it; a broken corpus is never skipped",
    )
