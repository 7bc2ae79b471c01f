"""The SQL in a snapshot beside the tables: the translated views, and the SQL that makes tables and views there."""

from collections.abc import Mapping
from pathlib import Path

from talkhouse.lake.inside import Inside
from talkhouse.lake.manifest import Manifest, document, read
from talkhouse.lake.statements import script, statements
from talkhouse.lake.translated import NAME, Translation, encode, read_translation
from talkhouse.schema.closest import closest
from talkhouse.schema.errors import UsageError

SCRIPT = "views.sql"


def documents(lake: Path, manifest: Manifest, translation: Translation) -> dict[str, bytes]:
    """Return name and content of each; the SQL is for the place where the lake lies now."""
    return {
        NAME: encode(translation),
        SCRIPT: script(statements(manifest, translation, str(lake.resolve()))).encode(),
    }


def are_there(found: Mapping[str, bytes], snapshot: Inside) -> bool:
    """Tell whether a snapshot has just these."""
    try:
        return all(document(snapshot, name) == found[name] for name in found)
    except (OSError, ValueError):
        return False


def write(found: Mapping[str, bytes], folder: Inside) -> None:
    """Write documents to a folder that has none of them."""
    for name, content in found.items():
        with folder.creating(name) as stream:
            stream.write(content)


def sql(lake: Path, name: str | None = None, location: str | None = None) -> str:
    """Return the SQL that makes everything in a lake, or one table or view.

    ``location``: where the lake lies for the engine that runs it; without it, where it lies here.

    Raises UsageError for a name that is not there, and what reading a lake raises.
    """
    manifest = read(lake)
    translation = read_translation(lake, manifest)
    made = statements(manifest, translation, (location or str(lake.resolve())).rstrip("/"))
    if name is None:
        return script(made)
    wanted = [one for one in made if one.kind != "database" and one.name in (name, f"main.{name}")]
    if not wanted:
        _refuse(name, translation, {one.name for one in made if one.kind != "database"})
    return script(wanted)


def _refuse(name: str, translation: Translation, known: set[str]) -> None:
    """Raise UsageError for a name that is not there: left out, or never heard of."""
    for one in translation.unportable:
        if f"{one.schema}.{one.name}" == name:
            raise UsageError(f"the lake does not have the view {name}", found=one.reason)
    raise UsageError(
        f"no view or table '{name}' in the lake",
        expected=f"one of: {', '.join(closest(name, known))}",
        next_step="list them with: talkhouse lake DIR --sql",
    )
