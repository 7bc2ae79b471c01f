"""What a corpus of Talkhouse says of itself: a page of TOML, ``about.toml``, next to its code.

It has facts, licences, sources, releases, schemes with what their labels mean, the datasheet and the rules: whatever of
``Corpus`` is text. What is code, or is needed by the code, is declared in Python.
"""

from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from talkhouse.ingest.corpus import Corpus


def about(code: str) -> dict[str, Any]:
    """Return the page next to a corpus's ``__init__.py`` as arguments of ``Corpus``.

    Raises ``msgspec.ValidationError``, a ``ValueError``, for a value that a field can't have.
    """
    page = msgspec.toml.decode(Path(code).with_name("about.toml").read_text(encoding="utf-8"))
    return {name: msgspec.convert(value, _types()[name]) for name, value in page.items()}


@cache
def _types() -> dict[str, Any]:
    return get_type_hints(Corpus)
