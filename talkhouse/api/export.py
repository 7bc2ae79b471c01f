"""Exports by the options of the command: a file, or a folder that a program opens."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from talkhouse.api.options import chat_options, check_options, member, several, without_none
from talkhouse.export.formats import ExportFormat, Tool
from talkhouse.export.selection import Filters
from talkhouse.personal import PersonalData
from talkhouse.personal.redact import opened_redacted
from talkhouse.schema.errors import UsageError
from talkhouse.warehouse.opened import Warehouse

_OF_BOTH = ("split", "release", "subset", "where", "accept_terms", "pseudonymise", "redact", "keep_personal_data")
_OF_A_FILE = ("format", "columns", "limit", "escape_formulas", "force")
_OF_CHATS = ("as_", "roles", "persona")


def export(
    warehouse: Warehouse, name: str, path: Path, *, for_: str | None = None, **options: Any
) -> tuple[Path, list[str]]:
    """Write what is named, and return where it is and what to know of it; options as in the command."""
    known = (*_OF_BOTH, *(_OF_A_FILE if for_ is None else _OF_CHATS if for_ == Tool.CHAT else ()))
    check_options(options, (*known, "for_"), "an export to a folder" if for_ is not None else "an export to a file")
    chosen = without_none(options)
    personal = PersonalData.KEEP if chosen.get("keep_personal_data") else PersonalData.ASK
    if not chosen.get("redact"):
        return _export(warehouse, name, path, for_, chosen, personal)
    with opened_redacted(warehouse.path) as copy:
        return _export(copy, name, path, for_, chosen, PersonalData.REDACT)


def _export(
    warehouse: Warehouse, name: str, path: Path, for_: str | None, chosen: Mapping[str, Any], personal: PersonalData
) -> tuple[Path, list[str]]:
    filters = Filters(chosen.get("split"), chosen.get("release"), several(chosen.get("subset")), chosen.get("where"))
    key = chosen.get("pseudonymise")
    how: dict[str, Any] = {
        "filters": filters,
        "is_accepted": bool(chosen.get("accept_terms")),
        "personal": personal,
        "key_file": None if key is None else Path(key),
    }
    if for_ is not None:
        tool = member(Tool, for_, "program to export for")
        if tool in (Tool.SUPERSET, Tool.DBT):
            raise UsageError(f"what is for {tool} has no rows", next_step=f"talkhouse export --for {tool}")
        from talkhouse.packages.export import export_package

        if tool is Tool.CHAT:
            how["chats"] = chat_options(**{option: chosen[option] for option in _OF_CHATS if option in chosen})
        written = export_package(warehouse, name, tool, path, **how)
        package = written.package
        return written.path, [*(warning for config in package.configs for warning in config.warnings), *package.notes]
    from talkhouse.export import export as files

    if "format" in chosen:
        how["file_format"] = member(ExportFormat, chosen["format"], "format of a file")
    how |= {option: chosen[option] for option in ("columns", "limit", "escape_formulas", "force") if option in chosen}
    exported = files.export(warehouse, name, path, **how)
    return exported.path, exported.warnings
