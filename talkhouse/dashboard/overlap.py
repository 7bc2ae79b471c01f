"""Texts of a corpus in two places: the matrix, and matches side by side; read from the file, never computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import polars as pl
import streamlit as st

from talkhouse.charts.declared import ROWS
from talkhouse.charts.fields import NOTHING, ChartField
from talkhouse.dashboard import errors, links, warehouse
from talkhouse.dashboard.tables import OPEN, counted, table_html
from talkhouse.dashboard.text import html, linked, marked, plain, style, tag
from talkhouse.dashboard.warehouse import ServedWarehouse, Version
from talkhouse.escaping import visible
from talkhouse.overlap.overlap_file import KINDS, open_overlap, path_to_read
from talkhouse.overlap.read import (
    OverlapSummary,
    Spans,
    TextPair,
    read_from,
    sentences,
    shingle_of,
    with_both_texts,
    worst_matches,
)
from talkhouse.overlap.request import VERDICTS, Unit
from talkhouse.schema import warehouse as files
from talkhouse.schema.sql import dicts, literal
from talkhouse.warehouse.build_facts import fingerprint

_MATCHES = 10
"""Matches that are shown side by side."""

_MOST_PLACES = 30
"""Columns of the matrix."""

_BEFORE, _LETTERS = 120, 1_200
"""Letters of a longer text that are shown before the first shared one, and in all."""

_SPLIT = [ChartField(name, name.title()) for name in ("task", "release", "split")]
_JUDGED = [*_SPLIT, *(ChartField(name, name.title(), ROWS) for name in ("examples", *VERDICTS))]

_SENTENCES = 5
"""Sentences above the matrix."""

_COUNTED = {"near": " runs of {} words", "contains": " of its runs of 8 words"}
"""The counted unit of each kind."""

_SHARES = (0, 0.01, 0.1, 0.3)
"""Thresholds of the share for each shade of a tile."""

_STYLE = style(__file__, "overlap")


@dataclass(frozen=True)
class _OverlapFile:
    """The contents of a file, as far as pages show them."""

    version: Version
    found: OverlapSummary
    places: list[dict[str, Any]]
    """Each with its corpus, publisher's release and split."""


def draw_of_corpus(opened: ServedWarehouse, corpus: Mapping[str, Any]) -> None:
    """Draw the overlap of a corpus, a row of ``main.corpora``."""
    with errors.shown():
        if file := _file_of(opened):
            of_corpus = [place for place in file.places if place["corpus_id"] == corpus["corpus_id"]]
            verdicts = [row for row in file.found.verdicts if row["corpus_id"] == corpus["corpus_id"]]
            _draw(opened, file, of_corpus, verdicts)


def draw_of_task(
    opened: ServedWarehouse, task: tuple[str, str], release: str | None, split: str | None, example: Mapping[str, Any]
) -> None:
    """Draw the overlap of the splits of a task, and first the verdict on the shown example.

    ``task``: its corpus and its name; ``release`` and ``split`` are None for all of them.
    """
    st.header("Overlap", anchor=False)
    with errors.shown():
        if not (file := _file_of(opened)):
            return
        if file.found.against:
            _draw_verdict(file, task, example)
        of_split = [place for place in file.places if place["corpus_id"] == task[0] and split in (None, place["split"])]
        # A task may name its publisher's releases otherwise than the records do.
        of_release = [place for place in of_split if release is not None and place["release"] == release]
        verdicts = [
            row
            for row in file.found.verdicts
            if (row["corpus_id"], row["task"]) == task
            and release in (None, row["release"])
            and split in (None, row["split"])
        ]
        _draw(opened, file, of_release or of_split, verdicts)


def _file_of(opened: ServedWarehouse) -> _OverlapFile | None:
    """Read the file; if there is none of this state of the warehouse, name the command that computes it."""
    version = warehouse.version(path_to_read(opened.version.path))
    file = _read(version) if version else None
    if file and file.found.fingerprint == _fingerprint(opened, opened.version):
        return file
    if file:
        st.warning(
            f"{file.version.path.name} is of another state of the warehouse, or of another one, and is not used. "
            "Compute it again: `talkhouse overlap`"
        )
    else:
        st.info(
            "Texts that stand in other places too, such as test answers in training data, finds `talkhouse overlap`."
        )
    return None


@st.cache_data(max_entries=3, show_spinner=False)
def _read(version: Version) -> _OverlapFile:
    with warehouse.beside(version.path, open_overlap) as con:
        places = dicts(con.execute("select place, corpus_id, release, split from main.places order by place"))
        return _OverlapFile(version, read_from(con), places)


@st.cache_data(max_entries=1, show_spinner=False)
def _fingerprint(_opened: ServedWarehouse, version: Version) -> str:
    # By the version, and not by what has it open, is it known again.
    with _opened.connection() as con:
        return fingerprint(con, files.name(version.path))


def _draw(
    opened: ServedWarehouse, file: _OverlapFile, places: Sequence[Mapping[str, Any]], verdicts: list[dict[str, Any]]
) -> None:
    """Draw the overlap of some places with others, with the verdicts on their examples."""
    found, names = file.found, {place["place"] for place in places}
    rows = [row for row in found.matrix if row["place"] in names]
    if sentences_of := sentences(replace(found, matrix=rows, verdicts=verdicts)):
        st.markdown("\n".join(f"- {plain(sentence)}" for sentence in sentences_of[:_SENTENCES]))
    if verdicts:
        _draw_verdicts(found, verdicts)
    if not rows:
        st.markdown("None of its texts stands in another place, or again in its own.")
        return
    compared = sorted({(row["unit"], row["other_unit"]) for row in rows}, key=_order)
    chosen = _select("What is compared", [_compared(*units) for units in compared], "overlap_units")
    unit, other_unit = next((units for units in compared if _compared(*units) == chosen), compared[0])
    rows = [row for row in rows if (row["unit"], row["other_unit"]) == (unit, other_unit)]
    _draw_matrix(rows)
    closest = [row for row in rows if row["affected"] > row["same"]]
    if not closest:
        st.markdown("No other text is repeated, but for phrases.")
        return
    closest.sort(key=lambda row: _how_bad(row, found.against))
    columns = st.columns([3, 1])
    with columns[0]:
        chosen = _select("Side by side", [_pair(row) for row in closest], "overlap_places")
    row = next((row for row in closest if _pair(row) == chosen), closest[0])
    kinds = {f"{kind}, {row[kind]:,}": kind for kind in KINDS[1:] if row[kind]}
    with columns[1]:
        kind = st.selectbox("Kind", list(kinds), index=None, key="overlap_kind", bind="query-params", placeholder="All")
    _draw_matches(opened, TextPair(unit, row["place"], other_unit, row["other_place"]), kinds.get(kind or ""))


def _how_bad(row: Mapping[str, Any], against: Sequence[str]) -> tuple[Any, ...]:
    """Order pairs of places: first the requested ones, last repetitions within a place."""
    is_asked = row["other_place"] in against and row["place"] not in against
    is_within = row["place"] == row["other_place"]
    return not is_asked, is_within, row["same"] - row["affected"], row["place"], row["other_place"]


def _order(units: tuple[str, str]) -> tuple[int, ...]:
    return tuple([*Unit].index(Unit(unit)) for unit in units)


def _compared(unit: str, other_unit: str) -> str:
    return f"{unit}s" if unit == other_unit else f"{unit}s, as {other_unit}s"


def _pair(row: Mapping[str, Any]) -> str:
    there = "itself" if row["place"] == row["other_place"] else row["other_place"]
    return f"{row['place']} in {there}"


def _select(title: str, options: list[str], key: str) -> str:
    chosen: str | None = st.selectbox(title, options, key=key, bind="query-params", format_func=visible)
    return chosen or options[0]


def _draw_verdicts(found: OverlapSummary, verdicts: list[dict[str, Any]]) -> None:
    """Draw the number of examples with each verdict, and for each split a link to its examples."""
    rows = [{**row, "task": f"{row['corpus_id']}.{row['task']}"} for row in verdicts]
    leads = [
        links.tasks(row["task"], **{f"task_{name}": row[name] for name in ("release", "split") if row[name]})
        for row in rows
    ]
    names = [field.name for field in _JUDGED]
    st.markdown(f"Verdicts on examples, against {plain(', '.join(found.against))}")
    st.html(table_html("Verdicts on examples", pl.DataFrame(rows, infer_schema_length=None)[names], _JUDGED, leads))


def _draw_matrix(rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw a tile for each two places: evidence, and phrases apart from it."""
    affected: dict[str, int] = {}
    for row in rows:
        affected[row["other_place"]] = affected.get(row["other_place"], 0) + row["affected"]
    others = sorted(sorted(affected, key=lambda place: (-affected[place], place))[:_MOST_PLACES])
    tiles = {(row["place"], row["other_place"]): row for row in rows}
    heads = "".join(f'<th scope="col">{html(other, lines=False)}</th>' for other in others)
    lines = "".join(
        f'<tr><th scope="row">{html(place, lines=False)}</th>'
        f"{''.join(_tile(tiles.get((place, other))) for other in others)}</tr>"
        for place in sorted({place for place, _ in tiles})
    )
    st.html(
        f'{_STYLE}<div class="matrix" tabindex="0" role="region" aria-label="Matrix of places"><table>'
        f"<thead><tr><td>of \u2193, in \u2192</td>{heads}</tr></thead><tbody>{lines}</tbody></table></div>"
    )
    caption = (
        "How much of the place on the left stands in the place above; below the line, what is a phrase and no evidence."
    )
    more = f" {len(affected) - len(others):,} more places are in the file." if len(affected) > len(others) else ""
    st.caption(caption + more)


def _tile(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return f"<td>{NOTHING}</td>"
    share = row["affected"] / row["units"]
    darkness = sum(share > least for least in _SHARES)
    kinds = ", ".join(f"{row[kind]:,} {kind}" for kind in KINDS if row[kind])
    phrases = f'<span class="phrases">{counted(row["phrases"], "phrase")}</span>' if row["phrases"] else ""
    return (
        f'<td class="d{darkness}" title="{html(kinds, lines=False)}"><b>{share:.1%}</b>'
        f"<span>{row['affected']:,} of {row['units']:,}</span>{phrases}</td>"
    )


def _draw_matches(opened: ServedWarehouse, pair: TextPair, kind: str | None) -> None:
    """Draw the worst matches of two places, both texts of each side by side."""
    path = path_to_read(opened.version.path)
    with warehouse.beside(path, open_overlap) as con:
        matches = worst_matches(con, pair, _MATCHES, kind)
    with opened.connection() as con:
        shown = [_match_html(con, pair, match) for match in with_both_texts(con, pair, matches)]
    st.html(f'{_STYLE}<div class="pairs">{"".join(shown)}</div>')
    where = "\n    and ".join(f"{name} = {literal(value)}" for name, value in pair._asdict().items())
    order = "order by kind, similarity desc, words desc"
    query = f"select *\nfrom overlap.matches\nwhere {where}\n    and not is_phrase\n{order}"
    st.link_button("All of them in SQL", links.sql(query), icon=":material/database:")


def _match_html(con: duckdb.DuckDBPyConnection, pair: TextPair, match: Mapping[str, Any]) -> str:
    share = f", {match['shared']:,} of {match['total']:,}" if match["kind"] in _COUNTED else ""
    of = _COUNTED.get(match["kind"], "").format(shingle_of(pair.unit))
    sides = "".join(
        _side(con, unit, place, owner, turn_index, text, spans)
        for unit, place, owner, turn_index, text, spans in (
            (pair.unit, pair.place, match["owner"], match["turn_index"], match["text"], match["spans"]),
            (
                *(pair.other_unit, pair.other_place, match["other_owner"], match["other_turn_index"]),
                *(match["other_text"], match["other_spans"]),
            ),
        )
    )
    head = tag("div", "kind", html(f"{match['kind']}{share}{of}"))
    return tag("div", "pair", head + tag("div", "sides", sides))


def _side(
    con: duckdb.DuckDBPyConnection, unit: str, place: str, owner: str, turn_index: int | None, text: str, spans: Spans
) -> str:
    """Return a text with its place, and a link to read it there."""
    address = _address(con, unit, owner, turn_index)
    at = {"turn": f", turn {turn_index}", "context": f", before turn {turn_index}"}.get(unit, "")
    link = f' <a href="{html(address, lines=False)}">{OPEN}</a>' if address else ""
    begin = max(spans[0][0] - _BEFORE, 0) if spans and len(text) > _LETTERS else 0
    end = begin + _LETTERS
    cut = [(first - begin, min(last, end) - begin) for first, last in spans if first < end]
    shown = ("\u2026 " if begin else "") + marked(text[begin:end], cut) + (" \u2026" if end < len(text) else "")
    where = html(f"{place}: {owner}{at}", lines=False)
    return tag("div", "side", tag("div", "at", where + link) + tag("div", "said", shown, ' dir="auto"'))


_RECORDS = {
    "candidate": "select min(record_id) from main.candidates where text_id = ?",
    "persona": "select min(record_id) from main.persona_uses where persona_id = ?",
}


def _address(con: duckdb.DuckDBPyConnection, unit: str, owner: str, turn_index: int | None) -> str | None:
    """Return the address of a unit: its dialogue at the turn, or the first record that has the candidate or persona."""
    if unit not in _RECORDS:
        return links.read(owner, turn_index)
    ((record_id,),) = con.execute(_RECORDS[unit], [owner]).fetchall()
    return links.read(record_id=record_id) if record_id else None


def _draw_verdict(file: _OverlapFile, task: tuple[str, str], example: Mapping[str, Any]) -> None:
    """Draw the verdict on an example, a row of its task's view, and the places of its texts."""
    row = _verdict(file.version, task, *(example.get(name) for name in ("release", "split", "example_index")))
    if row is None:
        return
    found = [
        linked(
            f"{unit}: {row[f'{unit}_kind']} in {row[f'{unit}_place']}",
            links.read(row[f"{unit}_dialogue_id"], row.get(f"{unit}_turn_index")),
        )
        for unit in ("dialogue", "turn", "context")
        if row[f"{unit}_kind"] is not None
    ]
    st.markdown(f"Verdict on this example: **{plain(row['verdict'] or '')}** {'; '.join(found)}")


_EXAMPLE = """
select * from main.examples
where
    corpus_id = ? and task = ? and release is not distinct from ? and split is not distinct from ?
    and example_index = ?
limit 1
"""


@st.cache_data(max_entries=100, show_spinner=False)
def _verdict(version: Version, task: tuple[str, str], *example: Any) -> dict[str, Any] | None:
    with warehouse.beside(version.path, open_overlap) as con:
        return next(iter(dicts(con.execute(_EXAMPLE, [*task, *example]))), None)
