"""Which corpora there are, by their ids: those of Talkhouse, of installed packages and of named folders.

One is imported when it is first taken: there is no list to edit.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from talkhouse.ingest.common_rules import Rule, shared_rules
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.registry.origins import (
    OWN,
    CorpusOrigin,
    DeclaredFolder,
    Folder,
    PackagedCorpus,
    declared_in,
    folders_in,
    packages,
)
from talkhouse.schema.errors import RegistryError, UsageError, closest

DEFAULT_ROOT = OWN


class Registry(Mapping[str, Corpus]):
    """Corpora by id, sorted: a corpus is imported when it is first taken.

    To take one raises RegistryError where it is broken, where there are two of its id, or where another has a rule
    of the same id.
    """

    def __init__(self, origins: Iterable[CorpusOrigin]) -> None:
        found = defaultdict[str, list[CorpusOrigin]](list)
        for origin in origins:
            if origin not in found[origin.corpus_id]:
                found[origin.corpus_id].append(origin)
        self.origins: Mapping[str, list[CorpusOrigin]] = dict(sorted(found.items()))
        """Where each comes from; several places where somebody has it twice."""
        self._loaded: dict[str, Corpus] = {}
        self._owners: dict[str, str] = {}

    def __getitem__(self, corpus_id: str) -> Corpus:
        if corpus_id not in self._loaded:
            origin = self.origin(corpus_id)
            corpus = origin.load()
            self._check_rules(corpus, origin)
            self._loaded[corpus_id] = corpus
        return self._loaded[corpus_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self.origins)

    def __len__(self) -> int:
        return len(self.origins)

    def __contains__(self, corpus_id: object) -> bool:
        return corpus_id in self.origins

    def origin(self, corpus_id: str) -> CorpusOrigin:
        """Return the origin of a corpus; RegistryError, with all of them, if there are several."""
        first, *others = self.origins[corpus_id]
        if others:
            raise RegistryError(
                f"there are two corpora '{corpus_id}'" if len(others) == 1 else f"there are several '{corpus_id}'",
                expected="one place for each id",
                found=" and ".join(origin.place for origin in (first, *others)),
                next_step="uninstall all but one, or leave its folder out of --corpora and TALKHOUSE_CORPORA",
            )
        return first

    def with_origins(self, origins: Iterable[CorpusOrigin]) -> "Registry":
        """Return a registry in which these take the place of what is known under their ids."""
        added = {origin.corpus_id: origin for origin in origins}
        return Registry([*(origin for origin in self._all() if origin.corpus_id not in added), *added.values()])

    def with_another(self, origin: CorpusOrigin) -> "Registry":
        """Return a registry with one more; where its id is known already, both places are named when it is taken."""
        return Registry([*self._all(), origin])

    def _all(self) -> Iterator[CorpusOrigin]:
        yield from (origin for places in self.origins.values() for origin in places)

    def described(self) -> list[dict[str, str | None]]:
        """Describe each: corpus_id, origin, title, and problem, the message where it is broken; all are imported."""
        return [self._described(corpus_id, origins) for corpus_id, origins in self.origins.items()]

    def _described(self, corpus_id: str, origins: list[CorpusOrigin]) -> dict[str, str | None]:
        title, problem = None, None
        try:
            title = self[corpus_id].title
        except RegistryError as error:
            problem = str(error)
        origin = " and ".join(source.place if isinstance(source, DeclaredFolder) else str(source) for source in origins)
        return {"corpus_id": corpus_id, "origin": origin, "title": title, "problem": problem}

    def is_installed(self, corpus_id: str) -> bool:
        """Whether a corpus comes from installed packages alone: nobody has named it."""
        return all(isinstance(origin, PackagedCorpus) for origin in self.origins[corpus_id])

    def _check_rules(self, corpus: Corpus, origin: CorpusOrigin) -> None:
        for rule in corpus.rules:
            if self._owners.setdefault(rule.id, corpus.id) != corpus.id:
                raise origin.broken(f"the corpus '{self._owners[rule.id]}' has a rule {rule.id!r} too")


def corpora(roots: Iterable[Path] = (DEFAULT_ROOT,)) -> Registry:
    """Know the corpora of these folders, each of which holds corpora or is one; without any, those of Talkhouse."""
    return Registry(_of_folders(roots))


def all_corpora(folders: Iterable[Path] = (), data: Path | None = None) -> Registry:
    """Know the corpora of Talkhouse, of installed packages, and of folders that a user names.

    ``data``: a data folder, of whose folders those are corpora that have a declaration.
    """
    declared = declared_in(data) if data else ()
    return Registry([*_of_folders((DEFAULT_ROOT, *folders)), *packages(), *declared])


def _of_folders(roots: Iterable[Path]) -> list[Folder | DeclaredFolder]:
    return [folder for root in roots for folder in folders_in(root)]


def pick(known: Mapping[str, Corpus], corpus_id: str) -> Corpus:
    """Return one corpus; UsageError, which lists all, for one that is not there."""
    if corpus_id not in known:
        raise UsageError(
            f"no corpus '{corpus_id}'",
            expected=f"one of: {', '.join(closest(corpus_id, known))}",
            next_step="check the spelling, or install the package that has it: talkhouse corpora lists what is known",
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


def queries_of(corpus: Corpus) -> Path:
    """Return the folder of the SQL that a corpus from elsewhere brings; those of Talkhouse have none there."""
    return folder_of(corpus) / "queries"


def rules_of(corpus: Corpus) -> dict[str, Rule]:
    """Return the rules that a corpus's findings may name, by id, the common rules included."""
    return {rule.id: rule for rule in (*shared_rules(), *corpus.rules)}
