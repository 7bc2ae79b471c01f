"""What a build refuses before it begins: code in a data folder, and rows that it would remove for want of a reader."""

from collections.abc import Iterable
from pathlib import Path

from talkhouse.build.plan import Plan, PublishedState
from talkhouse.build.request import Request
from talkhouse.schema.errors import UsageError
from talkhouse.warehouse.readers import no_reader


def check_no_code(data: Path, corpus_roots: Iterable[Path]) -> None:
    """Raise UsageError where corpora would be imported from the data folder, where only data lies."""
    for root in corpus_roots:
        if root.resolve().is_relative_to(data.resolve()):
            raise UsageError(
                "this folder of corpora lies in the data folder, from which nothing is ever imported",
                where=root,
                found=f"--data {data}",
                next_step="keep the code of corpora in a folder of its own: --corpora DIR",
            )


def check_readers(request: Request, plan: Plan, published: PublishedState | None) -> None:
    """Raise RegistryError for a corpus that would go only because it can't be read here, though its files are there."""
    unread = {name for name, _ in (*request.ignored, *request.left_out)}
    for name in plan.remove:
        if published and name in unread:
            step = "or, to remove the corpus, take its folder out of the data"
            raise no_reader(name, published.origins.get(name), step)
