"""The package of ``--for huggingface``: classes as numbers, and what ``datasets`` and the Hub read of its files."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml
from pyarrow import parquet
from pyarrow.types import is_fixed_size_list, is_list, is_struct

from talkhouse.export.expressions import QueryColumn
from talkhouse.export.row_stream import OnRows
from talkhouse.export.terms import LicencePart
from talkhouse.packages.content import Classes, Config, ExportPackage, PackageFile, PackageLayout
from talkhouse.packages.croissant import write_croissant
from talkhouse.packages.export import LICENCES, title
from talkhouse.packages.huggingface_card import card
from talkhouse.packages.plan import plan
from talkhouse.packages.tables import ParquetForm, write_tables
from talkhouse.schema.sql import literal
from talkhouse.schema.toml_files import toml_of

_RESERVED = {"all": "train"}
"""``datasets`` takes ``all`` for all splits together."""


def _write(package: ExportPackage, folder: Path, on_rows: OnRows) -> list[dict[str, Any]]:
    files = write_tables(package, folder, ParquetForm(value, footer), on_rows)
    readme = f"---\n{_head(package, folder, files)}---\n\n{card(package, files)}"
    (folder / "README.md").write_text(readme, encoding="utf-8")
    write_croissant(package, folder, files)
    return [file.described for file in files]


LAYOUT = PackageLayout(partial(plan, reserved=_RESERVED), _write)

_SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B", "1B<n<10B")
"""By powers of ten, as the Hub names them."""


def _head(package: ExportPackage, folder: Path, files: Sequence[PackageFile]) -> str:
    of_config = {config.name: [file for file in files if file.config == config.name] for config in package.configs}
    content = {
        **_described(package),
        "configs": [
            _config(config, of_config[config.name], is_default=config is package.configs[0])
            for config in package.configs
        ],
        "dataset_info": [_info(config, folder, of_config[config.name]) for config in package.configs],
    }
    text: str = yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=1_000_000)
    return text


def _described(package: ExportPackage) -> dict[str, Any]:
    """Return the metadata that the Hub searches; undeclared parts are left out."""
    ids = [corpus["corpus_id"] for corpus in package.corpora]
    categories = sorted({config.task_category for config in package.configs if config.task_category})
    content = {
        "pretty_name": title(package),
        "language": sorted({code for facts in package.facts for code in facts.languages}),
        **_licences(package),
        "task_categories": categories,
        "size_categories": [size_category(package.rows)],
        "source_datasets": ["original"],
        "tags": ["dialogue", "talkhouse", *ids],
    }
    return {key: value for key, value in content.items() if value}


def _licences(package: ExportPackage) -> dict[str, Any]:
    """Return the Hub's ids of the licences; ``other`` is explained in the folder."""
    ids = hub_licences(package.parts) or ["other"]
    if "other" not in ids:
        return {"license": ids}
    others = sorted({part.spdx or "unknown" for part in package.parts if "other" in hub_licences([part])})
    name = re.sub(r"[^a-z0-9.]+", "-", " ".join(others).lower()).strip("-")
    return {"license": ids, "license_name": name or "see-the-link", "license_link": LICENCES}


def size_category(rows: int) -> str:
    """Return the Hub's name for a number of rows."""
    return _SIZES[max(0, min(len(str(rows)) - 3, len(_SIZES) - 1))]


def _config(config: Config, files: Sequence[PackageFile], *, is_default: bool) -> dict[str, Any]:
    return {
        "config_name": config.name,
        **({"default": True} if is_default else {}),
        # ``datasets`` serves what it has from its cache unless something here is another.
        "description": f"{config.selection.full_name}, files {fingerprint(files)}",
        "data_files": [
            {"split": split.name, "path": f"data/{config.name}/{split.name}-*.parquet"} for split in config.splits
        ],
    }


def fingerprint(files: Iterable[PackageFile]) -> str:
    """Return 16 hex digits of the names and contents of files."""
    return sha256("".join(f"{file.path.as_posix()} {file.sha256}\n" for file in files).encode()).hexdigest()[:16]


def _info(config: Config, folder: Path, files: Sequence[PackageFile]) -> dict[str, Any]:
    splits = [
        {
            "name": split.name,
            "num_bytes": sum(file.raw_bytes for file in files if file.split == split),
            "num_examples": split.rows,
        }
        for split in config.splits
    ]
    return {
        "config_name": config.name,
        "features": in_head(_features(config, parquet.read_schema(folder / files[0].path))),  # type: ignore[no-untyped-call]
        "splits": splits,
        "download_size": sum(file.bytes for file in files),
        "dataset_size": sum(file.raw_bytes for file in files),
    }


_HUB_LICENCES = {name: name for name in toml_of(__file__, "hub_licences")["ids"]}
_HUB_LICENCES |= toml_of(__file__, "hub_licences")["others"]
"""The identifiers of SPDX in lower case, with the Hub's ids."""

_VERSIONS = re.compile(r"-(only|or-later)$")


def hub_licences(parts: Iterable[LicencePart]) -> list[str]:
    """Return the Hub's ids of the licences of parts, in their order, each once; ``other`` last, for all that it lacks.

    An expression of several licences is all of them, or ``other`` if the Hub lacks one. Nothing for no parts.
    """
    ids = list(dict.fromkeys(name for part in parts for name in _ids(part.spdx)))
    return sorted(ids, key=lambda name: name == "other")


def _ids(spdx: str | None) -> list[str]:
    names = [name for name in re.split(r"[\s()]+", spdx or "") if name not in ("", "AND", "OR")]
    ids = [_HUB_LICENCES.get(_VERSIONS.sub("", name.lower()), "other") for name in names]
    return ids if ids and "other" not in ids else ["other"]


_Feature = dict[str, Any]
"""A feature as ``datasets`` writes it in JSON."""

_OTHER_NAMES = {"float": "float32", "double": "float64", "halffloat": "float16", "date32[day]": "date32"}
"""Types that ``datasets`` calls otherwise than Arrow."""


def value(config: Config, column: QueryColumn) -> str:
    """Return the SQL expression of a column: its value, and of a class its number."""
    declared = next((each for each in config.classes if each.column == column.title), None)
    if declared is None:
        return column.as_packed()
    names = f"[{', '.join(literal(label.label) for label in declared.labels)}]::varchar[]"
    # Not a pattern to be filled in: a label may have braces.
    before, after = f"(list_position({names}, ", "::varchar) - 1)::bigint"
    return (
        f"list_transform({column.name}, lambda item: {before}item{after})"
        if declared.is_list
        else f"{before}{column.name}{after}"
    )


def _features(config: Config, schema: Any) -> dict[str, _Feature]:
    declared = {each.column: each for each in config.classes}
    return {field.name: _feature(field.type, declared.get(field.name)) for field in schema}


def footer(config: Config, schema: Any) -> dict[str, str]:
    """Return the metadata of a Parquet file for ``datasets``, which then knows the classes without a card."""
    return {"huggingface": json.dumps({"info": {"features": _features(config, schema)}}, ensure_ascii=False)}


def _feature(kind: Any, declared: Classes | None) -> _Feature:
    if is_list(kind) or is_fixed_size_list(kind):
        length = {"length": kind.list_size} if is_fixed_size_list(kind) else {}
        return {"feature": _feature(kind.value_type, declared), **length, "_type": "List"}
    if is_struct(kind):
        return {field.name: _feature(field.type, None) for field in kind}
    if declared:
        return {"names": [label.label for label in declared.labels], "_type": "ClassLabel"}
    return {"dtype": _OTHER_NAMES.get(str(kind), str(kind)), "_type": "Value"}


def in_head(named: Mapping[str, _Feature]) -> list[dict[str, Any]]:
    """Return features as the head of a card has them."""
    return [{"name": name, **_in_head(feature)} for name, feature in named.items()]


def _in_head(feature: _Feature) -> dict[str, Any]:
    match feature.get("_type"):
        case "Value":
            return {"dtype": feature["dtype"]}
        case "ClassLabel":
            names = {str(number): name for number, name in enumerate(feature["names"])}
            return {"dtype": {"class_label": {"names": names}}}
        case "List":
            inner = _in_head(feature["feature"])
            # What has only a type, or only parts, is written without saying so.
            short = next(iter(inner.values())) if list(inner) in (["dtype"], ["struct"]) else inner
            length = {"length": feature["length"]} if "length" in feature else {}
            return {"list": short, **length}
        case _:
            return {"struct": in_head(feature)}
