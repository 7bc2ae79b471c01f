"""The corpora of the warehouse to be: those declared here, and those that only the previous warehouse knows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from talkhouse.build.plan import Plan, PublishedState
from talkhouse.build.request import Request
from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.registry import Registry, corpora
from talkhouse.queries.catalogue import Catalogue, catalogue_of
from talkhouse.queries.files import Files, files_in, own_files
from talkhouse.schema import warehouse
from talkhouse.schema.errors import RegistryError, UsageError
from talkhouse.warehouse.query_files import brought_files
from talkhouse.warehouse.readers import no_reader
from talkhouse.warehouse.relations import common_splits, split_views


@dataclass(frozen=True)
class Present:
    """What is known of the corpora that the new warehouse holds."""

    corpora: Mapping[str, Corpus]
    """Those that are declared here."""
    origins: Mapping[str, str]
    """Where each of these comes from."""
    gone: tuple[str, ...]
    """Those that are kept, and that nobody here can read: the previous warehouse has what is known of them."""
    files: Files
    """The SQL and the charts of all of them."""
    splits: Mapping[str, Iterable[str]]
    """The splits that each declares, of Talkhouse's own corpora also where they are not in it."""

    @property
    def catalogue(self) -> Catalogue:
        """The SQL of the new warehouse."""
        return catalogue_of(self.files)


def present(
    known: Registry, query_roots: Iterable[Path], plan: Plan, published: PublishedState | None, old: Path
) -> Present:
    """Find what is known of each corpus; ``old`` is the previous warehouse, where there is one."""
    declared: dict[str, Corpus] = {item.corpus.id: known[item.corpus.id] for item in plan.load}
    for name in plan.keep:
        try:
            declared[name] = known[name]
        except (KeyError, RegistryError):
            continue  # its rows are kept, and with them what the previous warehouse knows of it
    gone = tuple(name for name in plan.keep if name not in declared)
    own = corpora()
    elsewhere = sorted(declared.keys() - own.keys())
    brought = [file for name in elsewhere for file in brought_files(declared[name], known.origin(name))]
    kept = [file for file in (published.brought if published else ()) if file.folder in gone]
    splits = {name: corpus.splits for name, corpus in {**own, **declared}.items()}
    return Present(
        declared,
        {name: str(known.origin(name)) for name in declared},
        gone,
        (*own_files(), *files_in(query_roots), *brought, *kept),
        {**splits, **_splits_of(old, gone)},
    )


def _splits_of(old: Path, gone: Iterable[str]) -> Mapping[str, Iterable[str]]:
    if not gone:
        return {}
    with warehouse.connect(old) as con:
        ((database,),) = con.execute("select current_database()").fetchall()
        found = common_splits(split_views(con, database).values())
    return {name: found.get(name, frozenset()) for name in gone}


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
