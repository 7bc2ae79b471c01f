"""The map of turns: a sample of them as points, near one another if similar in meaning; each leads to Read."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import streamlit as st

from talkhouse.dashboard import links
from talkhouse.dashboard.text import plain
from talkhouse.dashboard.warehouse import ServedWarehouse
from talkhouse.dialogues.schemes import PLAIN
from talkhouse.escaping import visible
from talkhouse.schema.sql_files import sql_of
from talkhouse.search.user_vectors import Turn

_HEIGHT = 340
_LETTERS = 160
"""Characters of a text that is shown on pointing."""

_MOST_COLOURS = len(PLAIN) - 1
"""Values that have a colour of their own."""

_NOTHING, _GREY = "none", "#808080"
_OTHER = "other"


def colours_by(opened: ServedWarehouse) -> list[str]:
    """Return the choices of colour: the corpus, the role, or the majority label of a scheme."""
    return ["corpus", "role", *opened.rows(sql_of(__file__, "schemes_on_map"))["scheme"].to_list()]


def draw_map(
    opened: ServedWarehouse,
    turns: Sequence[Mapping[str, Any]],
    of: int,
    run: Mapping[str, Any],
    by: str,
    chosen: Turn | None,
    nearest: Sequence[Turn],
) -> None:
    """Draw turns of ``turns_on_map``, of so many, coloured by one of ``colours_by``; mark a turn and its nearest."""
    import altair as alt  # late: not every page has a chart

    points, colours = _points(opened, turns, by)
    places = {turn: place + 1 for place, turn in enumerate(nearest)}
    points = points.with_columns(
        pl.Series("_mark", [_mark(turn, chosen, places) for turn in _keys(turns)], pl.String),
        pl.Series("_leads", [links.read(dialogue, turn) for dialogue, turn in _keys(turns)], pl.String),
    )
    st.caption(_sentence(len(turns), of, run))
    legend = alt.Legend(
        orient="bottom",
        columns=2,
        labelLimit=150,
        symbolLimit=24,
        padding=0,
        # Without these it would look as the marked points do.
        symbolOpacity=1,
        symbolStrokeWidth=0,
        symbolType="circle",
        symbolSize=80,
    )
    scale = alt.Scale(domain=[*colours], range=[*colours.values()])
    axis = alt.Axis(labels=False, ticks=False, grid=False, domain=False)
    encoding = {
        "x": alt.X("_x:Q", title=None, axis=axis, scale=alt.Scale(zero=False)),
        "y": alt.Y("_y:Q", title=None, axis=axis, scale=alt.Scale(zero=False)),
        "color": alt.Color("_colour:N", title=None, sort=[*colours], scale=scale, legend=legend),
        "href": alt.Href("_leads:N"),
        "tooltip": [
            alt.Tooltip("_turn:N", title="Turn"),
            alt.Tooltip("_text:N", title="Text"),
            alt.Tooltip("_colour:N", title="Colour"),
        ],
    }
    others = alt.Chart(points.filter(pl.col("_mark") == "")).mark_circle(size=28, opacity=0.55).encode(**encoding)
    marked = (
        alt.Chart(points.filter(pl.col("_mark") != ""))
        .mark_point(filled=True, opacity=1, stroke="#c03c60", strokeWidth=2)
        .encode(
            **encoding,
            shape=alt.Shape(
                "_mark:N", scale=alt.Scale(domain=["chosen", "nearest"], range=["diamond", "circle"]), legend=None
            ),
            size=alt.Size("_mark:N", scale=alt.Scale(domain=["chosen", "nearest"], range=[260, 90]), legend=None),
        )
    )
    alternative = f"A map of {len(turns):,} turns as points" + (
        f"; {visible(chosen[0])} {chosen[1]} is the diamond, what is nearest in meaning has a rim, and is in the list"
        if chosen
        else ""
    )
    drawn = alt.layer(others, marked).properties(width="container", height=_HEIGHT, padding={"bottom": 0})
    st.altair_chart(drawn, width="stretch", alt=alternative)


def _sentence(shown: int, of: int, run: Mapping[str, Any]) -> str:
    which = f"{shown:,} of {of:,} turns" if shown < of else f"{of:,} turns"
    about = "What is near on the map is only roughly near in meaning"
    if run["map"] == "given":
        return plain(f"{which}, at the places that the file of vectors gives them. {about}.")
    share = run["variance"] if isinstance(run["variance"], float) and 0 <= run["variance"] <= 1 else 0
    much = f"{share:.0%}" if share >= 0.01 else "less than 1%"
    return plain(f"{which}. {about}: its two directions have {much} of how the vectors vary.")


def _keys(turns: Sequence[Mapping[str, Any]]) -> list[Turn]:
    return [(turn["dialogue_id"], turn["turn_index"]) for turn in turns]


def _mark(turn: Turn, chosen: Turn | None, places: Mapping[Turn, int]) -> str:
    return "chosen" if turn == chosen else "nearest" if turn in places else ""


def _points(
    opened: ServedWarehouse, turns: Sequence[Mapping[str, Any]], by: str
) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return the points, under internal column names, and the colour of each value."""
    keys = _keys(turns)
    wanted: dict[str, object] = {"dialogues": [dialogue for dialogue, _ in keys], "turns": [turn for _, turn in keys]}
    texts = {
        (dialogue, turn): text or ""
        for dialogue, turn, text in opened.rows(sql_of(__file__, "texts_on_map"), wanted).iter_rows()
    }
    if by in ("corpus", "role"):
        values = [turn["corpus_id" if by == "corpus" else "role"] for turn in turns]
        known: Mapping[str, str] = {}
    else:
        rows = opened.rows(sql_of(__file__, "labels_on_map"), {**wanted, "scheme": by}).iter_rows()
        labels = {(dialogue, turn): label for dialogue, turn, label in rows}
        values = [labels.get(key) for key in keys]
        known = opened.schemes(by.partition(".")[0])[by].colours
    often = pl.Series("value", values, pl.String).drop_nulls().value_counts(sort=True)["value"].to_list()
    own = [value for value in known if value in often] or sorted(often[:_MOST_COLOURS])
    colours = {value: known.get(value, PLAIN[place % len(PLAIN)]) for place, value in enumerate(own)}
    shown = [_NOTHING if value is None else visible(value) if value in colours else _OTHER for value in values]
    legend = {visible(value): colour for value, colour in colours.items()}
    legend |= {value: _GREY for value in (_OTHER, _NOTHING) if value in shown and value not in legend}
    points = pl.DataFrame(
        {
            "_x": [turn["x"] for turn in turns],
            "_y": [turn["y"] for turn in turns],
            "_colour": shown,
            "_turn": [visible(f"{dialogue} {turn}") for dialogue, turn in keys],
            "_text": [_cut(texts.get(key, "")) for key in keys],
        }
    )
    return points, legend


def _cut(text: str) -> str:
    return visible(text[:_LETTERS]) + (" …" if len(text) > _LETTERS else "")
