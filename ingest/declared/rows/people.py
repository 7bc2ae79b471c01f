"""Who speaks: the speakers of rows, and who takes part in which dialogue."""

from dataclasses import dataclass

import polars as pl

from talkhouse.ingest.declared.declaration.model import Declaration
from talkhouse.ingest.declared.rows.columns import IS_BOT, NAME, READ, SPEAKER
from talkhouse.ingest.declared.rows.spool import NUMBER
from talkhouse.ingest.declared.speakers import Speakers, speaker_kind
from talkhouse.ingest.rows import ColumnBatch, Participant, Row, Speaker

OURS = "role.ours"
"""Column of the role as the tables have it."""

_TRUE = frozenset({"true", "1", "yes"})


@dataclass
class Spoken:
    """The people of some rows."""

    speaker_ids: pl.Series
    """Of each row; null where nobody is named."""
    names: pl.Series
    """Of each row: the name that its speaker has in the tables, if any."""
    batches: list[ColumnBatch]
    rows: list[Row]


class People:
    """The speakers of one corpus."""

    def __init__(self, declaration: Declaration, speakers: Speakers) -> None:
        self._declaration, self._speakers = declaration, speakers
        self._within = declaration.speaker.scope == "dialogue"
        self._names: dict[str, str | None] = {}

    def of(self, rows: pl.DataFrame) -> Spoken:
        """Find the speakers of rows with their ``dialogue_id``, ``role.ours`` and ``is_new``; makes what is new."""
        height = len(rows)
        if SPEAKER not in rows.columns:
            none = pl.repeat(None, height, dtype=pl.String, eager=True)
            return Spoken(none, none, [], [])
        begin = pl.col("dialogue_id") + "/" if self._within else pl.lit(f"{self._declaration.corpus_id}:")
        bot = READ + IS_BOT
        said = rows.select(
            NUMBER,
            "dialogue_id",
            OURS,
            "is_new",
            speaker=SPEAKER,
            speaker_id=begin + pl.col(SPEAKER),
            shown=pl.col(NAME) if NAME in rows.columns else pl.lit(None, pl.String),
            is_bot=pl.col(bot).str.to_lowercase().is_in(list(_TRUE)) if bot in rows.columns else pl.lit(value=False),
        )
        named = said.filter(pl.col("speaker").is_not_null())
        cast = named.unique([NUMBER, "speaker"], keep="first", maintain_order=True).filter("is_new")
        batches = [ColumnBatch(Participant, {}, cast.select("dialogue_id", "speaker_id", role=OURS).to_dict())]
        made: list[Row] = []
        if self._within and NAME not in rows.columns:
            batches.append(self._strangers(cast))
        else:
            made = self._known(cast if self._within else named.unique("speaker_id", maintain_order=True))
        shown = said["speaker_id"].replace_strict(self._names, default=None, return_dtype=pl.String)
        if self._within:
            self._names.clear()
        return Spoken(said["speaker_id"], shown, [batch for batch in batches if len(batch)], made)

    def _strangers(self, cast: pl.DataFrame) -> ColumnBatch:
        """Make the rows of people who are known only in one dialogue, as ``Speaker.within`` does."""
        pairs = cast.select(pl.struct(OURS, "is_bot")).to_series()
        kinds = {
            (pair[OURS], pair["is_bot"]): speaker_kind(pair[OURS], is_bot=pair["is_bot"]) for pair in pairs.unique()
        }
        kind = [kinds[role, is_bot] for role, is_bot in cast.select(OURS, "is_bot").iter_rows()]
        columns = cast.select("speaker_id", name="speaker").to_dict() | {"kind": pl.Series(kind, dtype=pl.String)}
        shared = {"corpus_id": self._declaration.corpus_id, "native_id": None, "is_anonymous": True}
        return ColumnBatch(Speaker, shared, columns)

    def _known(self, cast: pl.DataFrame) -> list[Row]:
        """Make the rows of those who are new, and remember what they are called."""
        made: list[Row] = []
        columns = ("dialogue_id", "speaker", OURS, "is_bot", "shown", "speaker_id")
        for dialogue_id, name, role, is_bot, shown, speaker_id in cast.select(columns).iter_rows():
            if speaker_id in self._names:
                continue
            row, is_new = self._speakers.of(dialogue_id, name, role, is_bot=is_bot, shown_name=shown)
            self._names[speaker_id] = row.name
            if is_new:
                made.append(row)
        return made
