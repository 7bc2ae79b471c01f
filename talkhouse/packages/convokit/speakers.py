"""Speakers: those who speak, for ConvoKit knows others only by name; and those that stand for unknown ones."""

from dataclasses import dataclass

from talkhouse.packages.convokit.members import Member, struct, with_meta
from talkhouse.packages.convokit.missing import MissingSpeakers
from talkhouse.packages.convokit.tables import Tables

# ConvoKit takes ``is_ai`` out of the metadata, as an attribute of the speaker; and then ``role``, ``sender_name`` and
# ``agent_id`` too, so none of these may be a name here.
MEMBERS = (
    Member("kind", "kind", "str"),
    Member("is_ai", "coalesce(kind = 'bot', false)", "bool"),
    Member("is_missing", "is_missing", "bool"),
    Member("name", "name", "str"),
    Member("native_id", "native_id", "str"),
    Member("is_anonymous", "is_anonymous", "bool"),
    Member("personas", "personas", "list"),
    Member("extra", "extra", "dict"),
)

_PERSONA = ("persona_id", "native_id", "text", "image_file", "image_url", "extra")


@dataclass(frozen=True)
class Speakers:
    """The speakers of a corpus."""

    tables: Tables
    missing: MissingSpeakers

    def query(self) -> str:
        """Return all speakers by id; the first column is the id."""
        return f"""
        select speaker_id, {with_meta(MEMBERS)}
        from (
            select *, false as is_missing
            from {self.tables.rows("speakers")}
            semi join {self.tables.rows("turns")} using (speaker_id)
            union all by name
            from {self.missing.rows}
        )
        left join (
            select speaker_id, list({struct((name, name) for name in _PERSONA)} order by persona_id) as personas
            from {self.tables.rows("personas", "speaker_id is not null")}
            group by speaker_id
        ) using (speaker_id)
        order by speaker_id
        """

    def silent(self) -> int:
        """Return how many speakers of the corpus never speak; they are among the participants, if anywhere."""
        query = f"""
        select count(*) from {self.tables.rows("speakers")} anti join {self.tables.rows("turns")} using (speaker_id)
        """
        ((count,),) = self.tables.warehouse.con.execute(query).fetchall()
        return int(count)
