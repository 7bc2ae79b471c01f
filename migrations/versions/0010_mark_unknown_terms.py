"""Mark the terms of corpora that were carried over from before revision 0006 as unknown; say where null means that."""

from alembic import op

from talkhouse.schema.sql_files import sql_of

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_BEFORE = "null: not declared."
_AFTER = "null: not declared, or not known of a corpus whose files were read before schema {}."

# fmt: off

_COMMENTS = {
    "main.corpora.authors": ("0006", "Its authors in order: a list of objects with family and given; "),
    "main.corpora.year": ("0006", "Year in which it was published; "),
    "main.corpora.reference": ("0006", "The publication to cite: an object with kind (as BibTeX has it), title, venue, and doi, arxiv or url; "),
    "main.corpora.datasheet": ("0007", "What its datasheet says: an object with motivation, composition, collection, labelling, uses and limits, which are texts, and quirks and sources, which are lists of texts; "),
}
"""Column -> the revision that added it, and how its comment begins."""

# fmt: on

NOTE = "What it asks was not recorded: its files were read before schema 0006. Build it again from them."


def upgrade() -> None:
    """Mark them, and set the new comments."""
    _comment(_AFTER)
    if op.get_context().dialect.name == "duckdb":
        op.execute(sql_of(__file__, "0010_mark_unknown_terms", note=NOTE))


def downgrade() -> None:
    """Remove the marks, and set the old comments."""
    _comment(_BEFORE)
    op.execute(f"delete from corpus_terms where note = '{NOTE}'")


def _comment(ending: str) -> None:
    for column, (since, beginning) in _COMMENTS.items():
        op.execute(f"comment on column {column} is '{beginning}{ending.format(since)}'")
