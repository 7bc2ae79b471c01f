"""Licences as the Hugging Face Hub names them."""

import re
from collections.abc import Iterable

from talkhouse.query.terms import Part

_KNOWN = frozenset({
    "afl-3.0", "agpl-3.0", "apache-2.0", "artistic-2.0", "bsd-2-clause", "bsd-3-clause", "bsd-3-clause-clear",
    "bsl-1.0", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0",
    "cc-by-nc-nd-3.0", "cc-by-nc-nd-4.0", "cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "cc-by-nd-4.0",
    "cc-by-sa-3.0", "cc-by-sa-4.0", "cc0-1.0", "cdla-permissive-1.0", "cdla-permissive-2.0", "cdla-sharing-1.0",
    "ecl-2.0", "epl-1.0", "epl-2.0", "etalab-2.0", "eupl-1.1", "eupl-1.2", "gpl-2.0", "gpl-3.0", "isc", "lgpl-2.1",
    "lgpl-3.0", "lppl-1.3c", "mit", "mpl-2.0", "ms-pl", "ncsa", "ofl-1.1", "osl-3.0", "postgresql", "unlicense",
    "wtfpl", "zlib",
})  # fmt: skip
"""The Hub's ids that are those of SPDX in lower case."""

_OTHERS = {"odbl-1.0": "odbl", "odc-by-1.0": "odc-by", "pddl-1.0": "pddl", "gfdl-1.3": "gfdl"}
_VERSIONS = re.compile(r"-(only|or-later)$")


def hub_licences(parts: Iterable[Part]) -> list[str]:
    """Return the Hub's ids of the licences of parts, in their order, each once; ``other`` last, for all that it lacks.

    An expression of several licences is all of them, or ``other`` if the Hub lacks one. Nothing for no parts.
    """
    ids = list(dict.fromkeys(name for part in parts for name in _ids(part.spdx)))
    return sorted(ids, key=lambda name: name == "other")


def _ids(spdx: str | None) -> list[str]:
    """Return the Hub's ids of an expression of SPDX identifiers."""
    names = [name for name in re.split(r"[\s()]+", spdx or "") if name not in ("", "AND", "OR")]
    ids = [_id(name.lower()) for name in names]
    return ids if ids and "other" not in ids else ["other"]


def _id(name: str) -> str:
    plain = _VERSIONS.sub("", name)
    return plain if plain in _KNOWN else _OTHERS.get(plain, "other")
