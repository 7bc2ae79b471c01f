"""What ``talkhouse status`` says of a warehouse: its counts, what its readers are here, and the id of its contents."""

from pathlib import Path
from typing import Any

from talkhouse.ingest.registry import all_corpora
from talkhouse.warehouse.build_facts import status
from talkhouse.warehouse.content_ids import ContentIds, contents_of, keep_ids, known_ids
from talkhouse.warehouse.opened import Warehouse
from talkhouse.warehouse.readers import current_versions


def described_with_ids(
    warehouse: Warehouse, path: Path, folders: tuple[Path, ...] = (), *, is_hashed: bool = False
) -> dict[str, Any]:
    """Return the counts of ``status``, and ``release`` and ``content_id`` as far as these are known.

    ``folders`` have corpora of the user's own. ``is_hashed``: compute the id, which reads every value.
    """
    versions = current_versions(warehouse.con, all_corpora(folders))
    ids = known_ids(warehouse.con, warehouse.database, path)
    if is_hashed and ids.content_id is None:
        ids = ContentIds(None, contents_of(warehouse.con, warehouse.database).content_id)
        keep_ids(path, ids)
    return {**status(warehouse.con, path, versions), **ids._asdict()}
