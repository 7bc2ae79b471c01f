"""Plans a package for ConvoKit: always a whole corpus, or of it the dialogues of the records that are wanted."""

from dataclasses import dataclass, replace

from talkhouse.packages.content import Config, Package, SplitRows
from talkhouse.packages.convokit.tables import Tables
from talkhouse.query.pseudonyms import Pseudonyms
from talkhouse.query.selection import NO_FILTERS, Filters, Selection, select
from talkhouse.query.terms import parts_of
from talkhouse.schema.closest import closest
from talkhouse.schema.errors import UsageError
from talkhouse.schema.sql import literal
from talkhouse.schema.tables import metadata
from talkhouse.warehouse.opened import Warehouse

_RECORDS = "main.records"


@dataclass(frozen=True, kw_only=True)
class CorpusPackage(Package):
    """A package of a corpus."""

    tables: Tables


def plan(warehouse: Warehouse, name: str, filters: Filters, pseudonyms: Pseudonyms | None) -> CorpusPackage:
    """Plan the package of a corpus; ``filters`` are those of ``main.records``, by its columns.

    Its dialogues are those of the records wanted, with the labels and lists that came with these records. Raises
    UsageError for what is no corpus, and where no turn is wanted.
    """
    if name not in warehouse.corpus_ids:
        raise UsageError(
            f"--for convokit exports corpora, and '{name}' is none",
            expected=f"one of: {', '.join(closest(name, warehouse.corpus_ids))}",
            next_step="name a corpus; views and tables are for --for huggingface",
        )
    records, dialogues = (
        replace(selection, conditions=(*selection.conditions, f"corpus_id = {literal(name)}"))
        for selection in (select(warehouse, _RECORDS, filters), select(warehouse, "main.dialogues"))
    )
    tables = Tables(warehouse, name, pseudonyms, None if filters == NO_FILTERS else records)
    if not tables.parts:
        raise UsageError(
            f"no turn of {name} is wanted" if filters != NO_FILTERS else f"{name} has no turns",
            expected=f"filters that records of {name} pass, of which one has a dialogue" if tables.records else None,
            next_step=f"see them with: talkhouse sql \"from records where corpus_id = '{name}'\"",
        )
    if tables.records:
        wanted = f"dialogue_id in (select dialogue_id from ({records.rows(['dialogue_id'])}))"
        dialogues = replace(dialogues, conditions=(*dialogues.conditions, wanted))
    return CorpusPackage(
        warehouse,
        name,
        (Config("records", records, metadata.tables["records"].comment or "", _splits(warehouse, records)),),
        [corpus for corpus in warehouse.corpora if corpus["corpus_id"] == name],
        parts_of(warehouse, [records, dialogues]),
        pseudonyms.fingerprint if pseudonyms else None,
        tables=tables,
    )


def _splits(warehouse: Warehouse, records: Selection) -> tuple[SplitRows, ...]:
    """Count the records of each split, which are all in one file."""
    query = f"""
    select split, coalesce(split, 'all'), any_value(standard_split), count(*)
    from ({records.rows(["split", "standard_split"])})
    group by split
    order by count(*) desc, split
    """
    return tuple(SplitRows(*row) for row in warehouse.con.execute(query).fetchall())
