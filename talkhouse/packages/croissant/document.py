"""croissant.json: the description of a package for programs, in JSON-LD."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from talkhouse.packages.content import Config, DataFile, Package
from talkhouse.packages.croissant.about import about
from talkhouse.packages.croissant.context import CONFORMS_TO, CONTEXT
from talkhouse.packages.croissant.ids import Ids
from talkhouse.packages.croissant.provenance import derived_from
from talkhouse.packages.croissant.record_sets import describe, schema_of
from talkhouse.packages.croissant.responsible_ai import responsible_ai
from talkhouse.packages.descriptions import provenance
from talkhouse.schema.tables import metadata, qualified
from talkhouse.warehouse.opened import Warehouse

NAME = "croissant.json"


def write_croissant(package: Package, folder: Path, files: Sequence[DataFile]) -> Path:
    """Write croissant.json into a package's folder, in which its files of rows are, and return its path there.

    The types of fields are those of the files: where labels are numbers, so are the fields. It is ASCII, since
    mlcroissant reads it in whatever encoding the machine has.
    """
    text = json.dumps(_document(package, folder, files), indent=2, allow_nan=False)
    (folder / NAME).write_text(f"{text}\n", encoding="ascii")
    return Path(NAME)


def _document(package: Package, folder: Path, files: Sequence[DataFile]) -> dict[str, Any]:
    facts = package.facts
    ids = Ids()
    rows = {config.name: ids.new(config.name) for config in package.configs}
    described = [
        describe(
            config,
            rows[config.name],
            own := [file for file in files if file.config == config.name],
            schema_of(folder / own[0].path),
            ids,
            has_key=_has_key(package.warehouse, config),
        )
        for config in package.configs
    ]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        **about(package, facts),
        **responsible_ai(package, facts),
        "prov:wasDerivedFrom": derived_from(provenance(package)["files"]),
        "distribution": [node for each in described for node in each.distribution],
        "recordSet": [node for each in described for node in each.record_sets],
    }


def _has_key(warehouse: Warehouse, config: Config) -> bool:
    """Whether the columns by which rows are sorted name one: those of tables and own views do."""
    name = config.selection.full_name
    is_table = any(qualified(table) == name for table in metadata.sorted_tables)
    return is_table or warehouse.view_file(name) is not None
