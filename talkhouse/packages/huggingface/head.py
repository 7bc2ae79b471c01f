"""The head of a dataset card: YAML that tells ``datasets`` the files and the Hub what is in them."""

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml
from pyarrow import parquet

from talkhouse.packages.content import Config, DataFile, Package
from talkhouse.packages.descriptions import LICENCES, title
from talkhouse.packages.hub_licences import hub_licences
from talkhouse.packages.huggingface.features import features, in_head

_SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B", "1B<n<10B")
"""By powers of ten, as the Hub names them."""


def head(package: Package, folder: Path, files: Sequence[DataFile]) -> str:
    """Return the YAML of a package whose files are in a folder."""
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


def _described(package: Package) -> dict[str, Any]:
    """Return what the Hub searches by; what nobody has declared is left out."""
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


def _licences(package: Package) -> dict[str, Any]:
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


def _config(config: Config, files: Sequence[DataFile], *, is_default: bool) -> dict[str, Any]:
    return {
        "config_name": config.name,
        **({"default": True} if is_default else {}),
        # ``datasets`` serves what it has from its cache unless something here is another.
        "description": f"{config.selection.full_name}, files {fingerprint(files)}",
        "data_files": [
            {"split": split.name, "path": f"data/{config.name}/{split.name}-*.parquet"} for split in config.splits
        ],
    }


def fingerprint(files: Iterable[DataFile]) -> str:
    """Return 16 hex digits of the names and contents of files."""
    return sha256("".join(f"{file.path.as_posix()} {file.sha256}\n" for file in files).encode()).hexdigest()[:16]


def _info(config: Config, folder: Path, files: Sequence[DataFile]) -> dict[str, Any]:
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
        "features": in_head(features(config, parquet.read_schema(folder / files[0].path))),  # type: ignore[no-untyped-call]
        "splits": splits,
        "download_size": sum(file.bytes for file in files),
        "dataset_size": sum(file.raw_bytes for file in files),
    }
