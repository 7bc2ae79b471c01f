"""Imports the code of corpora: that of Talkhouse by its name, a folder's under a name of its own, a package's."""

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import EntryPoint
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any, TextIO

from talkhouse import ingest
from talkhouse.ingest import corpora as shipped

_one_at_a_time = RLock()
"""Threads have one standard output and one current folder."""


@contextmanager
def contained() -> Iterator[None]:
    """Keep what code does while it is imported from the command that imports it.

    What it prints goes to the standard error stream, also from other programs that it starts; afterwards the streams
    and the current folder are as before.
    """
    with _one_at_a_time, _same_folder(), _same_streams():
        yield


@contextmanager
def _same_folder() -> Iterator[None]:
    here = None
    with suppress(OSError):  # the folder may be gone
        here = Path.cwd()
    try:
        yield
    finally:
        if here is not None:
            with suppress(OSError):
                os.chdir(here)


@contextmanager
def _same_streams() -> Iterator[None]:
    streams, output = (sys.stdout, sys.stderr), None
    with suppress(OSError, ValueError, AttributeError):  # each stream may be closed, or none
        sys.stdout.flush()
    with suppress(OSError):
        output = os.dup(1)
        os.dup2(2, 1)
    sys.stdout = sys.stderr = _standard_error()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams
        if output is not None:
            os.dup2(output, 1)
            os.close(output)


def _standard_error() -> TextIO:
    """Return a stream that code may close, or keep for later."""
    try:
        return open(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    except OSError:
        return Path(os.devnull).open("w")


def own(path: Path) -> ModuleType:
    """Import a corpus that comes with Talkhouse."""
    return importlib.import_module(f"{shipped.__name__}.{path.name}")


def folder(path: Path) -> ModuleType:
    """Import a folder, again if it was imported before: the author of a corpus changes it."""
    _Alias.make()
    name = f"talkhouse_corpus_{path.name}"
    spec = importlib.util.spec_from_file_location(name, path / "__init__.py", submodule_search_locations=[str(path)])
    if spec is None or spec.loader is None:
        raise ImportError(f"no module in {path}")
    for stale in [loaded for loaded in sys.modules if loaded == name or loaded.startswith(f"{name}.")]:
        del sys.modules[stale]
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def entry_point(point: EntryPoint) -> tuple[Any, Path]:
    """Import what an entry point names; return it with the folder of its module."""
    if not point.pattern.match(point.value):
        raise ValueError(f"{point.value!r} is not module:ATTRIBUTE")
    _Alias.make()
    value = point.load()
    return value, Path(str(sys.modules[point.module].__file__)).parent


_MOVED = {
    "ingest.file_per_dialogue": "ingest.input_files",
    **dict.fromkeys(("ingest.about", "ingest.making"), "ingest.corpus"),
    **dict.fromkeys(("ingest.restatements", "ingest.texts"), "ingest.keys"),
}
"""Modules by their former names, and those that now have what they had."""


class _Alias(MetaPathFinder, Loader):
    """Lets a corpus import ``ingest.x``, as corpora did before Talkhouse was one package: it is ``talkhouse.ingest.x``.

    The modules are the same, so that a Corpus of the one is one of the other. Somebody's own ``ingest`` goes first.
    """

    def __init__(self) -> None:
        self._specs: dict[str, ModuleSpec | None] = {}
        """What Python knows of the modules, which it would replace by what it knows of the alias."""

    @classmethod
    def make(cls) -> None:
        """Add it to what Python imports by, once."""
        if not any(isinstance(finder, cls) for finder in sys.meta_path) and not _has_another():
            sys.meta_path.insert(0, cls())

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:  # noqa: ARG002
        """Find a module below ``ingest``."""
        if fullname.partition(".")[0] != "ingest":
            return None
        return ModuleSpec(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module of Talkhouse."""
        module = importlib.import_module(f"talkhouse.{_MOVED.get(spec.name, spec.name)}")
        self._specs[module.__name__] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Execute nothing: that was done under its own name."""
        module.__spec__ = self._specs.pop(module.__name__)


def _has_another() -> bool:
    """Whether there is an ``ingest`` that is not Talkhouse's: in its repository, that is the folder itself."""
    spec = PathFinder.find_spec("ingest")
    if spec is None:
        return False
    here = {Path(path).resolve() for path in ingest.__path__}
    return not {Path(path).resolve() for path in spec.submodule_search_locations or ()} <= here
