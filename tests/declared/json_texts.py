"""Invented JSON texts for properties: any order of keys, literals of numbers, astral letters, our own names as keys."""

import json

from hypothesis import strategies as st

LETTERS = st.text(st.sampled_from('ab "\\/\n\x00é\u2028😀'), max_size=6)
TEXTS = st.builds(lambda text, is_ascii: json.dumps(text, ensure_ascii=is_ascii), LETTERS, st.booleans())
NUMBERS = st.sampled_from(["0", "-0", "7", "1.50", "1e3", "-2.0E-5", "9007199254740993", "1" + "0" * 30, "1e999"])
SCALARS = TEXTS | NUMBERS | st.sampled_from(["null", "true", "false"])
NAMES = st.sampled_from(
    ["shape", "fields", "mark_", "cells", "a", "b", "", "😀", "id", "type", "value", "text", "weight"]
)


def objects(members: st.SearchStrategy[dict[str, str]]) -> st.SearchStrategy[str]:
    """Write objects: members as JSON texts, in any order."""

    def write(pairs: dict[str, str], order: list[int]) -> str:
        names = sorted(pairs, key=lambda name: order[list(pairs).index(name) % len(order)])
        return "{" + ", ".join(f"{json.dumps(name)}: {pairs[name]}" for name in names) + "}"

    return st.builds(write, members, st.permutations(range(12)))


def lists(items: st.SearchStrategy[str], *, most: int = 3) -> st.SearchStrategy[str]:
    """Write lists of JSON texts."""
    return st.lists(items, max_size=most).map(lambda texts: "[" + ",".join(texts) + "]")


ANY = st.recursive(
    SCALARS, lambda inner: lists(inner) | objects(st.dictionaries(NAMES, inner, max_size=3)), max_leaves=5
)


def with_others(
    required: dict[str, st.SearchStrategy[str]], optional: dict[str, st.SearchStrategy[str]]
) -> st.SearchStrategy[str]:
    """Write objects with members that have to be there, others that may, and some that nobody knows."""
    known = st.fixed_dictionaries(required, optional=optional)
    extra = st.dictionaries(NAMES, ANY, max_size=2)
    nobody = extra.map(lambda more: {name: text for name, text in more.items() if name not in required | optional})
    return objects(st.builds(lambda own, more: {**more, **own}, known, nobody))
