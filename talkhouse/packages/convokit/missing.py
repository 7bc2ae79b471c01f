"""Speakers for turns that have none: each utterance of ConvoKit must have a speaker."""

from dataclasses import dataclass
from functools import cached_property

from talkhouse.packages.convokit.tables import Tables
from talkhouse.schema.sql import literal


@dataclass(frozen=True)
class MissingSpeakers:
    """Who says the turns whose speaker is not known, and those that several say together: one of each per dialogue."""

    tables: Tables

    def id_of(self, is_together: str) -> str:
        """Return the id of the speaker of a turn that has none; ``is_together``: the condition that several say it."""
        unknown, together = self._names
        return f"dialogue_id || case when {is_together} then {literal(together)} else {literal(unknown)} end"

    @cached_property
    def _names(self) -> tuple[str, str]:
        """``/unknown`` and ``/together``, unless speakers have such ids: ConvoKit merges what has one id."""
        return self._free("/unknown"), self._free("/together")

    def _free(self, name: str) -> str:
        taken = self.tables.count("speakers", f"ends_with(speaker_id, {literal(name)})")
        return self._free(f"{name}~") if taken else name

    @property
    def rows(self) -> str:
        """These speakers as a relation in SQL, with the columns that they have."""
        together = "(dialogue_id, turn_index) in (select (dialogue_id, turn_index) from main.turn_speakers)"
        return f"""(
        select distinct
            {self.id_of("is_together")} as speaker_id, not is_together as is_missing, true as is_anonymous
        from (
            select dialogue_id, {together if self.tables.has["turn_speakers"] else "false"} as is_together
            from {self.tables.rows("turns", "speaker_id is null")}
        )
        )"""
