"""What lies in a snapshot beside the tables: the translated views, and the SQL that makes tables and views there."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from schema.errors import LakeDamaged, UsageError
from talkhouse.lake.manifest import Manifest, read
from talkhouse.lake.statements import script, statements
from talkhouse.lake.translated import Translation, decode, encode
from talkhouse.relations import closest

TRANSLATION = "translation.json"
SCRIPT = "views.sql"


def documents(lake: Path, manifest: Manifest, translation: Translation) -> dict[str, bytes]:
    """Return name and content of each; the SQL is for the place where the lake lies now."""
    return {
        TRANSLATION: encode(translation),
        SCRIPT: script(statements(manifest, translation, str(lake.resolve()))).encode(),
    }


def are_there(found: Mapping[str, bytes], folder: Path) -> bool:
    """Tell whether a snapshot has just these."""
    return all((folder / name).is_file() and (folder / name).read_bytes() == found[name] for name in found)


def read_translation(lake: Path, manifest: Manifest) -> Translation:
    """Read the views of a lake; LakeDamaged where they can't be read."""
    path = lake / manifest.snapshot / TRANSLATION
    try:
        return decode(path.read_bytes())
    except (OSError, msgspec.DecodeError) as error:
        raise LakeDamaged(
            "the views of the lake can't be read",
            where=path,
            found=str(error),
            next_step="write the lake again with: talkhouse lake DIR",
        ) from error


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
