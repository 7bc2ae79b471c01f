"""Which state a name means: a warehouse file, a release, or a data folder, which is built in private."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from talkhouse.diff.states import State
from talkhouse.ingest.progress import Progress
from talkhouse.releases.manifest import MANIFEST, NAME
from talkhouse.releases.store import names, store_of
from talkhouse.schema.errors import UsageError
from talkhouse.settings import RELEASE_PREFIX
from talkhouse.system.folders import temporary_folder


@contextmanager
def found_state(name: str, store: Path | None, progress: Progress, on_note: Callable[[str], None]) -> Iterator[State]:
    """Yield the state that a name means, a file before a release of that name; UsageError where there is none."""
    path, named = Path(name), name.removeprefix(RELEASE_PREFIX)
    releases = names(store_of(store)) if NAME.fullmatch(named) else []
    if named == name and path.is_dir() and not (path / MANIFEST).exists():
        from talkhouse.build.run import build  # takes its time, as do releases: most states are files

        with temporary_folder() as folder:
            built = folder / "built.duckdb"
            build(built, progress, data=path)
            yield State(built, name)
    elif named == name and path.is_file():
        if name in releases:
            on_note(f"{name} is a file here, which is compared; the release is {RELEASE_PREFIX}{name}")
        yield State(path, name)
    elif named in releases or path.is_dir():
        from talkhouse.releases.checkout import find, resolve

        release = find(named, store).release
        yield State(resolve(named, store), name, release.name, release.content_id)
    else:
        raise UsageError(
            f"there is no '{named}'",
            expected="a warehouse file, the name or folder of a release, or a data folder",
            found=f"no file, no folder, and no release in {store_of(store)}",
            next_step="list the releases with: talkhouse release list",
        )
