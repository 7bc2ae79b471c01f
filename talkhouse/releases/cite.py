"""Cites what a user names: a corpus, the corpora of a view, table or export, or a release."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from talkhouse.citation import CitationFormat, formats
from talkhouse.export.manifest import Cited, manifest_of, of_export, of_name
from talkhouse.releases.checkout import cited_in
from talkhouse.releases.store import names
from talkhouse.schema.errors import UsageError
from talkhouse.warehouse.opened import Warehouse


def cite(
    name: str,
    citation_format: CitationFormat,
    store: Path,
    opened: Callable[[], AbstractContextManager[Warehouse]],
    *,
    release: str | None = None,
    with_talkhouse: bool = False,
) -> str:
    """Return the citation of what is named, in a format; ``opened`` opens the warehouse, which an export does not need.

    ``release``: as it is in this release of the store. Raises UsageError for what is nothing of these.
    """
    cited = _of_release(name, release, store) or _of_export(name)
    if cited is None:
        with opened() as warehouse:
            cited = of_name(warehouse, name)
    if not cited.corpora:
        raise UsageError(f"nothing to cite: {name} has no rows of a corpus", next_step="name a corpus or another view")
    works = [*cited.corpora, *([cited.talkhouse] if with_talkhouse else [])]
    return str(getattr(formats, citation_format)(works))


def _of_release(name: str, release: str | None, store: Path) -> Cited | None:
    """Return the works to cite for a release: ``name``, or ``name`` in ``release``; None if neither is one."""
    if release is None and (name not in names(store) or Path(name).exists()):
        return None
    return cited_in(release or name, None if release is None else name, store)


def _of_export(name: str) -> Cited | None:
    described = manifest_of(name)
    return None if described is None else of_export(described)
