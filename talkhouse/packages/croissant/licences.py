"""The licences of a package as Croissant names them: addresses of SPDX's list, and works that say what is not there."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from talkhouse.query.terms import Part

_OPERATORS = {"AND", "OR", "WITH"}


def licences(parts: Iterable[Part], corpora: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Return the licences of the parts, and of corpora that have none: each once, in their order."""
    parts = list(parts)
    of_parts = {part.corpus_id for part in parts}
    named = [licence for part in parts for licence in _of_part(part)]
    named += [_declared(corpus) for corpus in corpora if corpus["corpus_id"] not in of_parts]
    return [licence for index, licence in enumerate(named) if licence not in named[:index]]


def _of_part(part: Part) -> Iterator[Any]:
    """Return the licences in a part's expression; where some of its terms are unknown, also what is said of that."""
    names = [name for name in re.findall(r"[\w.:+-]+", part.spdx or "") if name not in _OPERATORS]
    for name in names:
        if name.startswith("LicenseRef-"):
            yield _work(name, part.note, part.licence_url)
        else:
            yield f"https://spdx.org/licenses/{name}"
    if part.is_unknown and not any(name.startswith("LicenseRef-") for name in names):
        yield _work(f"{part.corpus_id}: not all terms are known", part.note, part.licence_url)


def _declared(corpus: Mapping[str, Any]) -> Any:
    if corpus["is_sample"]:
        return _work("Invented sample data of Talkhouse, under its licence", "", "https://spdx.org/licenses/Apache-2.0")
    return _work(corpus["licence"], corpus["terms"], corpus["licence_url"])


def _work(name: str, description: str, url: str | None) -> dict[str, Any]:
    said = {"name": name, "description": description, "url": url}
    return {"@type": "sc:CreativeWork", **{key: value for key, value in said.items() if value}}
