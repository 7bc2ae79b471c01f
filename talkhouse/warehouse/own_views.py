"""Whether the views of a warehouse are those that this Talkhouse makes."""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from talkhouse.queries.catalogue import Catalogue
from talkhouse.schema.errors import SchemaMismatch

_NEXT = "build the warehouse with this version of Talkhouse: talkhouse build"


def check_views(catalogue_hash: str, where: object, known: Catalogue) -> None:
    """Raise SchemaMismatch for the hash of views, macros and examples that are not those of a catalogue."""
    own = known.hash
    if catalogue_hash != own:
        raise SchemaMismatch(
            "the warehouse has other views than this Talkhouse",
            where=where,
            expected=f"views with the hash {own[:12]}",
            found=f"views with the hash {catalogue_hash[:12]}" if catalogue_hash else "a build without views",
            next_step=_NEXT,
        )


@contextmanager
def fits_views(what: str) -> Iterator[None]:
    """Raise SchemaMismatch where a query finds no such view or column, or one of another type: ``what`` needs them."""
    try:
        yield
    except (duckdb.BinderException, duckdb.CatalogException) as error:
        raise SchemaMismatch(
            f"{what} does not fit the views of this warehouse", found=str(error), next_step=_NEXT
        ) from error
