"""The SQL in a snapshot beside the tables: the translated views, and the SQL that makes tables and views there."""

from collections.abc import Mapping
from pathlib import Path

from talkhouse.lake_format.inside import Inside
from talkhouse.lake_format.manifest import Manifest, document, read
from talkhouse.lake_format.statements import script, statements
from talkhouse.schema.closest import closest
from talkhouse.schema.errors import LakeDamaged, UsageError
from talkhouse.translation.translated import TranslatedViews, decode, encode

TRANSLATION = "translation.json"
SCRIPT = "views.sql"


def documents(lake: Path, manifest: Manifest, translation: TranslatedViews) -> dict[str, bytes]:
    """Return name and content of each; the SQL is for the place where the lake lies now."""
    return {
        TRANSLATION: encode(translation),
        SCRIPT: script(statements(manifest, translation, str(lake.resolve()))).encode(),
    }


def are_there(contents: Mapping[str, bytes], snapshot: Inside) -> bool:
    """Tell whether a snapshot has just these documents."""
    try:
        return all(document(snapshot, name) == content for name, content in contents.items())
    except (OSError, ValueError):
        return False


def write(contents: Mapping[str, bytes], folder: Inside) -> None:
    """Write documents to a folder that has none of them."""
    for name, content in contents.items():
        with folder.creating(name) as stream:
            stream.write(content)


def read_translation(lake: Path, manifest: Manifest) -> TranslatedViews:
    """Read the views of a lake; LakeDamaged where they can't be read."""
    try:
        return decode(document(Inside(lake, manifest.snapshot), TRANSLATION))
    except (OSError, ValueError, RecursionError) as error:
        raise LakeDamaged(
            "the views of the lake can't be read",
            where=lake / manifest.snapshot / TRANSLATION,
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
    every = statements(manifest, translation, (location or str(lake.resolve())).rstrip("/"))
    if name is None:
        return script(every)
    relations = [statement for statement in every if statement.kind != "database"]
    wanted = [statement for statement in relations if statement.name in (name, f"main.{name}")]
    if not wanted:
        raise _unknown(name, translation, {statement.name for statement in relations})
    return script(wanted)


def _unknown(name: str, translation: TranslatedViews, known: set[str]) -> UsageError:
    """Return the error of a name that is not there: left out, or never heard of."""
    for view in translation.unportable:
        if view.full_name == name:
            return UsageError(f"the lake does not have the view {name}", found=view.reason)
    return UsageError(
        f"no view or table '{name}' in the lake",
        expected=f"one of: {', '.join(closest(name, known))}",
        next_step="list them with: talkhouse lake DIR --sql",
    )
