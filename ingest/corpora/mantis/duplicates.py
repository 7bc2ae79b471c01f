"""Tells exactly, and cheaply where all is well, whether an object of a dialogue has a key twice."""

import json
import re

from ingest.corpora.mantis.shapes import Value
from ingest.decode import unique


def text_count(value: Value) -> int:
    """Count the keys and texts in a decoded value."""
    if isinstance(value, str):
        return 1
    if isinstance(value, dict):
        return len(value) + sum(map(text_count, value.values()))
    if isinstance(value, list):
        return sum(map(text_count, value))
    return 0


def check_duplicates(raw: bytes, texts: int) -> None:
    """Raise BadRecord TH-03 where an object has a key twice; ``texts`` is how many keys and texts were decoded.

    Each of them has two quotes beside those that a backslash escapes, and a decoder gives a key that stands twice once.
    """
    # Without a doubled backslash, each backslash before a quote escapes it.
    escaped = raw.count(b'\\"') if b"\\\\" not in raw else _ESCAPED.findall(raw).count(b'"')
    if raw.count(b'"') - escaped != 2 * texts:
        json.loads(raw, object_pairs_hook=unique, parse_int=str)


_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)
