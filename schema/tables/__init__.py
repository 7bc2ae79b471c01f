"""All tables of a warehouse, as SQLAlchemy metadata; one module per concern.

Foreign keys here are declarations: DuckDB is not asked to enforce them (see ``docs/decisions``).
"""

from talkhouse.schema.tables import dialogues, publication
from talkhouse.schema.tables.base import metadata, owned_by, qualified

__all__ = ["dialogues", "metadata", "owned_by", "publication", "qualified"]
