"""Invented corpora to cite, whose titles and names hold what formats could take for something else."""

import re
from typing import Any

from hypothesis import strategies as st

from talkhouse.citation.work import Citation

ODD = [
    *('"', "{", "}", "\\", "%", "&", "$", "#", "_", "^", "~", "@", "@article{", "},\n@misc{x,", "\\textbf{x}", "}{"),
    *("日本語", "é", "ß", "😀", "'", "`", "<", ">", "|", ",", ";", ":", "=", "and", " and ", "others", "Jr.", "von "),
    *("\n", "\r\n", "\t", "\0", "\u2028", "\x1b[31m", "\u202e", "  ", "a", "B", "---", "- ", "# ", "null"),
    *("%20", "1e5"),
]

texts = st.lists(st.sampled_from(ODD), min_size=1, max_size=8).map("".join) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=20
)
words = texts.map(lambda text: f"{text}w")
"""Texts with a letter in them."""

_addresses = words.map(lambda text: f"https://example.org/{text}")
_references = st.fixed_dictionaries(
    {"kind": st.sampled_from(["article", "inproceedings", "misc"]), "title": words},
    optional={
        "venue": texts,
        "doi": words.map(lambda text: f"10.1000/{text}"),
        "arxiv": st.just("1912.04639"),
        "url": _addresses,
    },
)
_authors = st.lists(st.fixed_dictionaries({"family": words, "given": st.just("") | words}), min_size=1, max_size=3)
_corpora = st.fixed_dictionaries(
    {
        "title": words,
        "citation": texts,
        "homepage": st.just("") | _addresses,
        "licence": texts,
        "authors": st.none() | _authors,
        "year": st.none() | st.integers(1900, 2100),
        "reference": st.none() | _references,
    }
)


def _cited(corpora: list[dict[str, Any]]) -> list[Citation]:
    return [Citation.from_corpus({**corpus, "corpus_id": f"corpus_{index}"}) for index, corpus in enumerate(corpora)]


citations = st.lists(_corpora, min_size=1, max_size=12).map(_cited)

_WRITTEN = {
    r"{\textbackslash}": "\\", r"{\textbraceleft}": "{", r"{\textbraceright}": "}", r"{\textless}": "<",
    r"{\textgreater}": ">", r"{\textbar}": "|", r"{\textasciicircum}": "^", r"{\textasciitilde}": "~", "{@}": "@",
}  # fmt: skip


def shown(text: str) -> str:
    """Return a text as LaTeX shows it; AssertionError for characters that act on it."""
    assert not re.search(r"[\\{}%&$#_^~@<>|]", re.sub(r"\{\\text[a-z]+\}|\{@\}|\\[%&$#_]", "", text)), text
    return re.sub(r"\{\\text[a-z]+\}|\{@\}|\\([%&$#_])", lambda match: match[1] or _WRITTEN[match[0]], text)
