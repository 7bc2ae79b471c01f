"""What a lake of a warehouse would not have, for whoever builds it: known at once where nothing has changed."""

from collections.abc import Sequence

import duckdb
import msgspec

from talkhouse.queries.catalogue import Catalogue
from talkhouse.system.cache import Cache, key_of
from talkhouse.translation.kept import made_by
from talkhouse.translation.translate import translate
from talkhouse.translation.translated import LeftOut

_KEPT = Cache("left_out", ".json", most=8)


def left_out(con: duckdb.DuckDBPyConnection, catalogue: Catalogue) -> list[LeftOut]:
    """Tell which views of a catalogue a lake can't have; those of one split are as their task's.

    The types of columns follow from the catalogue and the code, so that nothing has to be read of the warehouse.
    """
    key = key_of(catalogue.hash, made_by())
    try:
        return msgspec.json.decode(_KEPT.read(key) or b"", type=list[LeftOut])
    except (ValueError, RecursionError):  # not kept, or damaged
        views = translate(con, catalogue, {}).left_out
        _KEPT.keep(msgspec.json.encode(views), key)
        return views


def told(views: Sequence[LeftOut]) -> list[str]:
    """Say in lines what is left out and why; views that read one that is left out are named with it."""
    lines = []
    for view in views:
        readers = [other.full_name for other in views if other.because == view.full_name and not other.part]
        if view.part:
            lines.append(f"{view.full_name}: {view.part}, which is left out")
        elif not view.because:
            also = f"; and with it what reads it: {', '.join(readers)}" if readers else ""
            lines.append(f"{view.full_name}: {view.reason}{also}")
    return lines
