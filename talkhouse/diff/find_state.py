"""Which state a name means: a warehouse file, a release, or a data folder, which is built in private."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from talkhouse.build.progress import Progress
from talkhouse.build.run import build
from talkhouse.diff.states import State
from talkhouse.schema.errors import UsageError
from talkhouse.system.folders import temporary_folder


@contextmanager
def found_state(name: str, progress: Progress, on_note: Callable[[str], None]) -> Iterator[State]:
    """Yield the state that a name means, a file before a release of that name; UsageError where there is none."""
    path = Path(name)
    with ExitStack() as stack:
        if path.is_dir():
            folder = stack.enter_context(temporary_folder())
            built = folder / "built.duckdb"
            build(built, progress, data=path)
            yield State(built, name)
        elif path.exists():
            yield State(path, name)
        else:
            raise UsageError(
                f"there is no '{name}'",
                expected="a warehouse file, the name or folder of a release, or a data folder",
                next_step="list the releases with: talkhouse release list",
            )
