"""What declares a corpus of which only files are named: options, or a ``corpus.toml`` beside the files."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from talkhouse.ingest.declared.declaration.options import from_options
from talkhouse.ingest.files.skipped import DECLARATION
from talkhouse.ingest.known.declarations import DeclaredFolder, KeptDeclaration, is_declared
from talkhouse.ingest.known.origins import Origin
from talkhouse.schema.errors import UsageError


def declared_by_options(corpus_id: str, format_name: str, maps: Sequence[str], split: str | None) -> Origin:
    """Declare a corpus by the options of a command; UsageError for one that is wrong."""
    return KeptDeclaration(from_options(corpus_id, format_name, maps, split), "options of talkhouse ingest")


def declared_beside(corpus_id: str, paths: Sequence[Path]) -> Origin | None:
    """Find the declaration of the folder of this id that is named, or whose files are; None where there is none.

    Raises UsageError for paths inside several such folders.
    """
    near = {folder for path in paths for folder in (path.resolve(), *path.resolve().parents)}
    folders = sorted(folder for folder in near if folder.name == corpus_id and is_declared(folder))
    if len(folders) > 1:
        raise UsageError(
            f"there are two declarations of '{corpus_id}'",
            found=" and ".join(str(folder / DECLARATION) for folder in folders),
            next_step="name paths of one folder",
        )
    return DeclaredFolder(folders[0], is_beside_data=True) if folders else None


def no_declaration(corpus_id: str, paths: Sequence[Path], guessed: str) -> UsageError:
    """Return the error of files that nothing declares, and that look like a known format; no guess loads anything."""
    named = " ".join(quote(str(path)) for path in paths)
    return UsageError(
        f"no declaration of '{corpus_id}'",
        found=f"files that look like {guessed}",
        next_step=f"talkhouse ingest {corpus_id} {named} --format {guessed}",
    )
