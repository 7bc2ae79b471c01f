"""Citations as BibTeX, CSL JSON, a text, and CITATION.cff: each the same bytes for the same citations."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from talkhouse.citation.work import Citation

_VENUE = {"article": "journal", "inproceedings": "booktitle"}
"""The field of BibTeX that has the venue, by the kind of the entry."""

_CSL_TYPES = {"article": "article-journal", "inproceedings": "paper-conference", "software": "software"}
_CFF_TYPES = {"article": "article", "inproceedings": "conference-paper", "software": "software"}

_CFF_DOI = re.compile(r"10\.\d{4,9}(\.\d+)?/[A-Za-z0-9:/_;\-.()\[\]\\]+")
_CFF_ADDRESS = re.compile(r"(https?|s?ftp)://[\x21-\x7e]+")
_ASKED = "If you use these data, please cite the publications in the references."


def bibtex(citations: Sequence[Citation]) -> str:
    """Return BibTeX entries, one for each publication; the key is the corpus's id.

    It is UTF-8, and what LaTeX reads otherwise is escaped. Titles are in braces of their own, so that styles keep
    capitals. A corpus without structured citation is @misc with its title, and the reference as its note; where that
    is an entry of BibTeX, it stays as it is.
    """
    return "\n".join(_entry(citation) for citation in citations)


def bibtex_of(corpora: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the entry of each corpus by its id, for pages; ``corpora`` are as ``build_facts.corpora`` has them."""
    return {corpus["corpus_id"]: bibtex([Citation.from_corpus(corpus)]) for corpus in corpora}


def csl(citations: Sequence[Citation]) -> str:
    """Return a list of CSL JSON items, as reference managers and Pandoc read it."""
    return json.dumps([_item(citation) for citation in citations], indent=2, ensure_ascii=False) + "\n"


def text(citations: Sequence[Citation]) -> str:
    """Return a line for each publication, as a list of references has it."""
    return "".join(f"{_reference(citation)}\n" for citation in citations)


def cff(title: str, citations: Sequence[Citation]) -> str:
    """Return a CITATION.cff, 1.2.0, of the type dataset, with the publications as its references.

    Its authors are those of the corpora, each once.
    """
    authors = [author for citation in citations for author in _cff_authors(citation)]
    content = {
        "cff-version": "1.2.0",
        "message": _ASKED,
        "type": "dataset",
        "title": title,
        "authors": [author for index, author in enumerate(authors) if author not in authors[:index]],
        "references": [_cff_reference(citation) for citation in citations],
    }
    return _yaml(content)


def _yaml(content: Mapping[str, Any]) -> str:
    """Write YAML that says the same to readers of YAML 1.1 and 1.2, since 1e5 is a text in one of them."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Writes in quotes what could be a number."""

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if value[:1].isalpha() else '"')

    Dumper.add_representer(str, text)
    return str(yaml.dump(content, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=120))


def _entry(citation: Citation) -> str:
    if not citation.is_structured and _is_entry(citation.text):
        return f"{citation.text.strip()}\n"
    kind = citation.of_reference("kind") if citation.is_structured else "misc"
    fields = {
        "author": " and ".join(_name(*author) for author in citation.authors),
        "title": f"{{{_escaped(citation.work_title)}}}",
        _VENUE.get(kind, "howpublished"): _escaped(citation.of_reference("venue")),
        "year": str(citation.year or ""),
        "version": _escaped(citation.version),
        "doi": _verbatim(citation.of_reference("doi")),
        "eprint": _verbatim(citation.of_reference("arxiv")),
        "archivePrefix": "arXiv" if citation.of_reference("arxiv") else "",
        # A style that prints addresses makes one of the DOI.
        "url": "" if citation.of_reference("doi") else _verbatim(citation.address),
        "note": _escaped(citation.note),
    }
    lines = [f"  {name} = {{{value}}},\n" for name, value in fields.items() if value]
    return f"@{kind if kind in _VENUE else 'misc'}{{{citation.corpus_id},\n{''.join(lines)}}}\n"


def _item(citation: Citation) -> dict[str, Any]:
    kind, arxiv = citation.of_reference("kind"), citation.of_reference("arxiv")
    item = {
        "id": citation.corpus_id,
        "type": _CSL_TYPES.get(kind, "article" if arxiv else "dataset"),
        "title": citation.work_title,
        "author": [
            {"family": family, "given": first} if first else {"literal": family} for family, first in citation.authors
        ],
        "issued": {"date-parts": [[citation.year]]} if citation.year else None,
        "container-title": citation.of_reference("venue"),
        "version": citation.version,
        "DOI": citation.of_reference("doi"),
        "number": f"arXiv:{arxiv}" if arxiv and kind not in _CSL_TYPES else "",
        "URL": citation.address,
        "note": citation.note,
    }
    return {name: value for name, value in item.items() if value}


def _reference(citation: Citation) -> str:
    """Return authors, year, title, venue and address; what is declared as one sentence where that is all there is."""
    if citation.note or not citation.is_structured:
        return _sentences([citation.sentence or citation.title, citation.address])
    people = [f"{first} {family}".strip() for family, first in citation.authors]
    year = f" ({citation.year})" if citation.year else ""
    return _sentences(
        [f"{_listed(people)}{year}", citation.work_title, citation.of_reference("venue"), citation.address]
    )


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _sentences(parts: Iterable[str]) -> str:
    """Join what there is by full stops; not behind a sign that ends a sentence, nor behind an address."""
    *heads, address = parts
    ended = [part if part[-1] in ".?!。" else f"{part}." for part in heads if part]
    return " ".join([*ended, *([address] if address else [])])


def _cff_authors(citation: Citation) -> list[dict[str, str]]:
    if not citation.authors:
        return [{"name": f"the authors of {citation.title}"}]
    return [
        {"family-names": family, "given-names": first} if first else {"name": family}
        for family, first in citation.authors
    ]


def _cff_reference(citation: Citation) -> dict[str, Any]:
    kind, venue = citation.of_reference("kind"), citation.of_reference("venue")
    doi, arxiv = citation.of_reference("doi"), citation.of_reference("arxiv")
    is_doi = bool(_CFF_DOI.fullmatch(doi))
    others = [f"arXiv:{arxiv}" if arxiv else "", "" if is_doi else doi]
    reference = {
        "type": _CFF_TYPES.get(kind, "generic"),
        "title": citation.work_title,
        "authors": _cff_authors(citation),
        "year": citation.year,
        "journal": venue if kind == "article" else "",
        "collection-title": "" if kind == "article" else venue,
        "doi": doi if is_doi else "",
        "identifiers": [{"type": "other", "value": value} for value in others if value],
        "url": citation.address if _CFF_ADDRESS.fullmatch(citation.address) else "",
        "notes": citation.note,
    }
    return {name: value for name, value in reference.items() if value}


_HEAD = re.compile(r"\s*@(?!(?:comment|string|preamble)\b)[a-z]+\s*\{\s*[a-z0-9_:.+/-]+\s*,", re.IGNORECASE)
_NAME = re.compile(r"\s*[a-z][a-z0-9_-]*\s*=\s*", re.IGNORECASE)
_NUMBER_OR_MONTH = re.compile(r"[0-9]+|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.IGNORECASE)
_COMMA = re.compile(r"\s*,")
_END = re.compile(r"\s*\}\s*")


def _is_entry(text: str) -> bool:
    """Whether a text is one whole entry: its fields are numbers, months, or texts in braces or quotes that end."""
    head = _HEAD.match(text)
    if head is None or "\0" in text:
        return False
    at = head.end()
    while name := _NAME.match(text, at):
        end = _value_end(text, name.end())
        if end is None:
            return False
        comma = _COMMA.match(text, end)
        at = comma.end() if comma else end
        if comma is None:
            break
    return _END.fullmatch(text, at) is not None


def _value_end(text: str, begin: int) -> int | None:
    """Return the end of a value that begins here, or None if it has none, or is no value."""
    if text[begin : begin + 1] not in ("{", '"'):
        bare = _NUMBER_OR_MONTH.match(text, begin)
        return bare.end() if bare else None
    depth = 0
    for at in range(begin, len(text)):
        sign = text[at]
        depth += {"{": 1, "}": -1}.get(sign, 0)
        is_last = sign == "}" if text[begin] == "{" else sign == '"' and at > begin
        if sign == "@" or depth < 0:  # some readers begin another entry there
            return None
        if depth == 0 and is_last:
            return at + 1
    return None


_LATEX = {
    "\\": r"{\textbackslash}",
    "{": r"{\textbraceleft}",  # \{ would not do: BibTeX counts braces, whatever stands before them
    "}": r"{\textbraceright}",
    "<": r"{\textless}",  # in LaTeX's old fonts these three are other characters
    ">": r"{\textgreater}",
    "|": r"{\textbar}",
    "^": r"{\textasciicircum}",
    "~": r"{\textasciitilde}",
    "@": "{@}",  # some readers take @name with a brace after it for a new entry, wherever it stands
    **{sign: f"\\{sign}" for sign in "%&$#_"},
}
_IN_LATEX = str.maketrans(_LATEX)
_IN_ADDRESSES = "%/:?#[]@!$&'()*+,;=~"

_PLAIN_NAME = re.compile(r"[\w.'\u2019 -]+")
_JOINING = re.compile(r"\band\b|\bothers\b", re.IGNORECASE)


def _escaped(text: str) -> str:
    """Return a text as LaTeX shows it."""
    return text.translate(_IN_LATEX)


def _verbatim(address: str) -> str:
    r"""Return an address or a DOI, which styles take verbatim (``\url``): what can't stand in braces as %7B."""
    return quote(address, safe=_IN_ADDRESSES)


def _name(family: str, first: str) -> str:
    """Return the name of an author; in braces where BibTeX would cut it into other parts."""
    if not first:
        return f"{{{_escaped(family)}}}"
    return f"{_part(family)}, {_part(first)}"


def _part(text: str) -> str:
    is_plain = _PLAIN_NAME.fullmatch(text) and not _JOINING.search(text)
    return _escaped(text) if is_plain else f"{{{_escaped(text)}}}"
