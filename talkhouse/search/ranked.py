"""Find texts by their words, the best first: turns, candidates and personas by BM25, and turns that are like one."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import log
from typing import Any, NamedTuple

import duckdb

from talkhouse.schema.errors import UsageError, check_unicode
from talkhouse.schema.sql import dicts, literal
from talkhouse.schema.sql_files import sql_of
from talkhouse.search.text_groups import KINDS, Groups, TextSearch, chosen_groups, counted_facets, groups_of
from talkhouse.warehouse.tokens import search_runs, search_tokens

K1, B = 1.2, 0.75
"""The constants of BM25, as Lucene has them: how soon another occurrence adds little, how much long texts are held
back."""

COMMON = 10
"""A word of more than one in so many texts adds to scores, and finds no text by itself next to a rarer word."""

TELLING = 10
"""Words of a turn by which others are like it."""

MOST_WORDS = 50
"""Words of a search."""


class SearchWord(NamedTuple):
    """A word of a search."""

    word: str
    texts: int
    """How many texts have it."""
    idf: float
    is_common: bool
    """Whether it finds no text by itself."""


@dataclass(frozen=True)
class RankedHit:
    """A text that was found. A candidate or persona has the ids of the first record that has it, null for none."""

    place: int
    """From 1."""
    score: float
    kind: str
    """turn, candidate or persona."""
    corpus_id: str
    splits: list[str]
    """Those that the text was published in, by the publisher's names."""
    dialogue_id: str | None
    turn_index: int | None
    record_id: str | None
    """Of a turn null: its dialogue may be in several."""
    text_id: str | None
    persona_id: str | None
    role: str | None
    speaker: str | None
    text: str
    matches: list[tuple[int, int]]
    """Begin and end of each word that was found, in characters of the text from 0, the end exclusive."""


@dataclass(frozen=True)
class RankedMatches:
    """The texts that a search finds."""

    texts: int
    """How many there are of what is chosen."""
    words: list[SearchWord]
    """The words that were searched for; of a turn the most telling ones."""
    facets: dict[str, dict[str, int]] = field(default_factory=dict)
    """Facet -> value -> how many texts there would be with it and the choices of the other facets."""
    hits: list[RankedHit] = field(default_factory=list)


def rank(search: TextSearch, text: str) -> RankedMatches:
    """Find the texts that have words of a text, by BM25 over all texts of the index, equal scores in its order.

    Raises UsageError for a text without words, or one of too many.
    """
    check_unicode(text, "the text")
    wanted = list(dict.fromkeys(_tokens(search.file, text)))
    if not wanted:
        raise UsageError("there is no word to search for", expected="letters or digits", found=text or "nothing")
    if len(wanted) > MOST_WORDS:
        raise UsageError(
            "there are too many words to search for", expected=f"at most {MOST_WORDS}", found=f"{len(wanted):,}"
        )
    known = _words(search.file, wanted)
    return _found(search, [known[word] for word in wanted])


def like(search: TextSearch, dialogue_id: str, turn_index: int) -> RankedMatches:
    """Find the texts that have the most telling words of a turn, which itself is left out, as ``rank`` does.

    These are the rarest in all texts, and those that the turn has most often. Raises UsageError where there is no such
    turn.
    """
    query = "select text from main.turns where dialogue_id = $dialogue and turn_index = $turn"
    rows = search.con.execute(query, {"dialogue": dialogue_id, "turn": turn_index}).fetchall()
    if not rows:
        next_step = "find one with: talkhouse search"
        raise UsageError(f"no turn {turn_index} in a dialogue '{dialogue_id}'", next_step=next_step)
    counts = Counter(_tokens(search.file, rows[0][0] or ""))
    # A word that only this turn has finds nothing; a letter, such as that of "it's", tells nothing.
    eligible = [word for word in counts if len(word) > 1 or not word.isascii()]
    known = [word for word in _words(search.file, eligible).values() if word.texts > 1]
    known = [word for word in known if not word.is_common] or known
    telling = sorted(known, key=lambda word: (-counts[word.word] * word.idf, word.word))[:TELLING]
    return _found(search, telling, without=(dialogue_id, turn_index))


_SEEN = 200
"""Characters of a text that are seen around its matches."""


def best_match(text: str, matches: Sequence[tuple[int, int]]) -> int:
    """Return the start of the match with the most distinct words within the shown text after it."""
    matches = matches[:_SEEN]  # in a long text the first ones
    words = [text[begin:end].lower() for begin, end in matches]
    most, place = 0, 0
    for number, (begin, _) in enumerate(matches):
        near = {word for (first, _), word in zip(matches, words, strict=True) if begin <= first < begin + _SEEN}
        if len(near) > most:
            most, place = len(near), number
    return matches[place][0] if matches else 0


def _tokens(index: duckdb.DuckDBPyConnection, text: str) -> list[str]:
    ((found,),) = index.execute(f"select {search_tokens('$1::varchar')}", [text]).fetchall()
    return list(found)


def _words(index: duckdb.DuckDBPyConnection, wanted: Sequence[str]) -> dict[str, SearchWord]:
    """Return the index's entries of words, in their order."""
    query = "select word, texts from main.words where word in (select unnest($1::varchar[]))"
    known = dict(index.execute(query, [list(wanted)]).fetchall())
    ((texts,),) = index.execute("select texts from main.run").fetchall()
    found = {}
    for word in wanted:
        having = min(known.get(word, 0), texts)
        idf = log(1 + (texts - having + 0.5) / (having + 0.5))
        found[word] = SearchWord(word, having, idf, is_common=having * COMMON > texts)
    return found


def _found(
    search: TextSearch, words: list[SearchWord], without: tuple[str | None, int | None] = (None, None)
) -> RankedMatches:
    con, index, choices, limit, offset, dialogues = search
    there = [word for word in words if word.texts]
    if not there:
        return RankedMatches(0, words)
    groups = groups_of(index)
    shown = chosen_groups(groups, choices)
    values = {"groups": shown, "limit": limit, "offset": offset, "owner": without[0], "turn": without[1]}
    of_dialogues = "" if dialogues is None else _OF_DIALOGUES
    values |= {} if dialogues is None else {"dialogues": dialogues}
    ((counts, best),) = index.execute(_sql(index, there, of_dialogues), values).fetchall()
    in_groups = Counter({row["group_no"]: row["texts"] for row in counts or () if row["group_no"] in groups})
    total = sum(in_groups[number] for number in shown)
    found = read_hits(con, best or (), groups, offset)
    every = _matches(index, [hit.text for hit in found], {word.word for word in words})
    marked = [replace(hit, matches=matches) for hit, matches in zip(found, every, strict=True)]
    return RankedMatches(total, words, counted_facets(groups, in_groups, choices), marked)


_OF_DIALOGUES = """ and document in (
    select document from main.documents
    where turn_index is not null and owner in (select unnest($dialogues::varchar[]))
)"""


def _sql(index: duckdb.DuckDBPyConnection, words: Sequence[SearchWord], of_dialogues: str) -> str:
    """Return the query of one row: how many texts there are by group, and the best ones of $groups."""
    numbers = dict(
        index.execute(
            "select word, word_no from main.words where word in (select unnest($1::varchar[]))",
            [[word.word for word in words]],
        ).fetchall()
    )
    ((mean,),) = index.execute("select mean_words from main.run").fetchall()
    common = [word for word in words if word.is_common]
    choosing = [word for word in words if not word.is_common]

    def part(some: Sequence[SearchWord]) -> str:
        cases = " ".join(f"when {numbers[word.word]:d} then {word.idf!r}::double" for word in some)
        idf = f"case word_no {cases} end" if len(some) > 1 else f"{some[0].idf!r}::double"
        return f"{idf} * times * {K1 + 1} / (times + {K1} * ({1 - B} + {B} * words / {mean!r}::double))"

    def of(some: Sequence[SearchWord]) -> str:
        return f"from main.postings where word_no in ({', '.join(f'{numbers[word.word]:d}' for word in some)})"

    def summed(some: Sequence[SearchWord], condition: str = "") -> str:
        if len(some) == 1:  # each text has a word in one row
            return f"select document, group_no, {part(some)} as score {of(some)}{condition}"
        return (
            f"select document, any_value(group_no) as group_no, sum({part(some)}) as score "
            f"{of(some)}{condition} group by document"
        )

    if not choosing:
        first, *others = sorted(common, key=lambda word: word.texts)
        joined = "".join(
            f" inner join ({summed([word])}) as w{number} on w{number}.document = first.document"
            for number, word in enumerate(others)
        )
        score = " + ".join(["first.score", *(f"w{number}.score" for number in range(len(others)))])
        scored = f"select first.document, first.group_no, {score} as score from ({summed([first])}) as first{joined}"
        before = ""
    elif common:
        before = f"choosing as materialized ({summed(choosing)}), "
        also = summed(common, " and document in (select document from choosing)")
        scored = (
            "select choosing.document, choosing.group_no, choosing.score + coalesce(also.score, 0) as score "
            f"from choosing left join ({also}) as also on also.document = choosing.document"
        )
    else:
        before, scored = "", summed(choosing)
    ranks = ", ".join(map(literal, KINDS))
    return sql_of(__file__, "ranked", before=before, scored=scored, of_dialogues=of_dialogues, ranks=ranks)


def read_hits(
    con: duckdb.DuckDBPyConnection, best: Sequence[dict[str, Any]], groups: Groups, offset: int
) -> list[RankedHit]:
    """Read the texts of what was found from the warehouse; what it does not have is left out.

    ``best`` has owner, turn_index, group_no and score, of those from place ``offset`` on.
    """
    texts: dict[tuple[str, str, int | None], dict[str, Any]] = {}
    for kind in KINDS:
        some = [row for row in best if groups[row["group_no"]]["kind"] == kind]
        values: dict[str, Any] = {"owners": [row["owner"] for row in some]}
        if kind == "turn":
            values["turns"] = [row["turn_index"] for row in some]
        for row in dicts(con.execute(sql_of(__file__, f"ranked_{kind}s"), values)) if some else ():
            texts[kind, row.pop("owner"), row.pop("owner_turn")] = row
    found = []
    for number, row in enumerate(best):
        group = groups[row["group_no"]]
        kind, owner = group["kind"], row["owner"]
        read = texts.get((kind, owner, row["turn_index"]))
        if read is not None:
            known = {**read, "text_id": owner if kind == "candidate" else None}
            known["persona_id"] = owner if kind == "persona" else None
            known |= {"kind": kind, "corpus_id": group["corpus_id"], "splits": group["splits"], "matches": []}
            found.append(RankedHit(place=offset + number + 1, score=row["score"], **known))
    return found


def _matches(index: duckdb.DuckDBPyConnection, texts: list[str], words: set[str]) -> list[list[tuple[int, int]]]:
    """Return the positions of some words in each of some texts, as written; neighbours are joined."""
    query = f"select list_transform($1::varchar[], lambda said: {search_runs('said')})"
    ((every,),) = index.execute(query, [texts]).fetchall()
    return [list(_marks(text, runs, words)) for text, runs in zip(texts, every, strict=True)]


def _marks(text: str, runs: Sequence[Mapping[str, Any]], words: set[str]) -> Iterator[tuple[int, int]]:
    text, at = text.replace("\0", " "), 0
    for run in runs:
        begin = text.index(run["written"], at)
        at = begin + len(run["written"])
        letters, tokens = run["letters"], run["tokens"]
        if len(letters) == len(tokens) + 1 and "".join(letters) == run["written"]:
            yield from _pairs(begin, letters, [token in words for token in tokens])
        elif not words.isdisjoint(tokens):
            yield begin, at


def _pairs(begin: int, letters: Sequence[str], is_found: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of letters that are in a pair that was found."""
    places = [begin, *(begin + end for end in accumulate(map(len, letters)))]
    first = None
    for number, found in enumerate((*is_found, False)):
        if found and first is None:
            first = number
        elif not found and first is not None:
            yield places[first], places[number + 1]
            first = None
