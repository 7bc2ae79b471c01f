"""The names of columns, of which none may stand in a file twice."""

from collections.abc import Iterable

_MOST = 10_000


def check_names(names: Iterable[str], problem: str = "a column is in it twice") -> None:
    """Raise ValueError for a name twice, capital and small letters being the same, as in DuckDB; and for too many."""
    known: dict[str, str] = {}
    for place, name in enumerate(names, 1):
        before = known.setdefault(name.lower(), name)
        if len(known) < place:
            raise ValueError(f"{problem}: {before[:60]!r} and {name[:60]!r}")
    if len(known) > _MOST:
        raise ValueError(f"it has {len(known):,} columns, more than {_MOST:,}")
