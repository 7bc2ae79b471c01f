"""Add what the tables could not hold: parts of turns, spans, replies, several speakers, what a scheme is."""

from alembic import op

from talkhouse.migrations.steps import add_columns, create_tables, drop_columns, drop_tables, set_comments
from talkhouse.schema.toml_files import toml_of

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_DECLARED = toml_of(__file__, "0005_add_parts_and_spans")


def upgrade() -> None:
    """Add columns, in which rows of before have nothing, and tables."""
    add_columns(_DECLARED["columns"])
    set_comments(_DECLARED["comments"], "after")
    create_tables(_DECLARED["tables"])
    if op.get_context().dialect.name == "postgresql":
        _keys()


def downgrade() -> None:
    """Drop the tables and columns, with what is in them."""
    drop_tables(_DECLARED["tables"])
    set_comments(_DECLARED["comments"], "before")
    drop_columns(_DECLARED["columns"])


def _keys() -> None:
    """Add keys, indexes and relations, which only PostgreSQL has."""
    op.create_primary_key(None, "turn_speakers", ["dialogue_id", "turn_index", "position"])
    op.create_primary_key(None, "parts", ["dialogue_id", "turn_index", "part_index"])
    op.create_primary_key(None, "query_files", ["folder", "name"], schema="meta")
    op.create_index("turn_speakers_speaker_id_idx", "turn_speakers", ["speaker_id"])
    op.create_index("turns_dialogue_id_reply_to_idx", "turns", ["dialogue_id", "reply_to"])
    turn = ["dialogue_id", "turn_index"]
    op.create_foreign_key(None, "turn_speakers", "speakers", ["speaker_id"], ["speaker_id"])
    for table in ("turn_speakers", "parts"):
        op.create_foreign_key(None, table, "dialogues", turn[:1], turn[:1])
        op.create_foreign_key(None, table, "turns", turn, turn)
    op.create_foreign_key(None, "turns", "turns", ["dialogue_id", "reply_to"], turn)
