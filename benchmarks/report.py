"""The results as Markdown and as a picture."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import altair

from benchmarks.results import STRAIGHT, Measured, Result, bend, growth

_HEAD = ("case", "by", "s, median", "min to max", "processor s", "peak MB", "wrote MB", "ours / its")


def markdown(machine: dict[str, str], results: list[Result]) -> str:
    """Return the whole report."""
    lines = ["# Benchmarks", "", *(f"- {name}: {value}" for name, value in machine.items()), ""]
    for scenario, of_it in groupby(results, key=lambda one: one.scenario):
        cases = list(of_it)
        lines += [f"## {scenario.title}", "", *_table(cases), ""]
        lines += [f"- {note}" for note in (*_bars(cases), *(_growth(cases) if scenario.grows else ()), *scenario.notes)]
        lines.append("")
    return "\n".join(lines)


def _table(cases: Iterable[Result]) -> Iterator[str]:
    yield "| " + " | ".join(_HEAD) + " |"
    yield "|---|---|" + "---:|" * (len(_HEAD) - 2)
    for case in cases:
        for side in case.measured:
            yield "| " + " | ".join((case.name, side.side, *_cells(case, side))) + " |"


def _cells(case: Result, side: Measured) -> tuple[str, ...]:
    if side.failure:
        return (side.failure.splitlines()[-1].replace("|", "/"), "", "", "", "", "")
    times = [run.seconds for run in side.runs]
    ratio = None if side is case.measured[0] else case.ratio(side)
    return (
        _number(side.median("seconds")),
        f"{_number(min(times))} to {_number(max(times))}",
        _number(side.median("cpu")),
        _number(side.median("peak")),
        _number(side.median("disk")),
        _number(ratio),
    )


def _number(value: float | None) -> str:
    """Return three digits, without an exponent."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _bars(cases: Iterable[Result]) -> Iterator[str]:
    for case in cases:
        if case.bar is not None and (ratio := case.ratio(case.measured[1])) is not None:
            what = {"cpu": "processor time", "seconds": "time", "peak": "peak memory"}[case.scenario.measure]
            kept = "kept" if case.is_kept else "**not kept**"
            other = case.measured[1].side
            yield f"{case.name}: {what} {_number(ratio)} times that of {other}; bar {case.bar:g}: {kept}"
        if case.limit is not None and (seconds := case.measured[0].median("seconds")) is not None:
            kept = "kept" if seconds <= case.limit else "**not kept**"
            yield f"{case.name}: {_number(seconds)} s; at most {case.limit:g} s: {kept}"


def _growth(cases: list[Result]) -> Iterator[str]:
    for part in dict.fromkeys(case.part for case in cases):
        yield from _growth_of_part([case for case in cases if case.part == part])


def _growth_of_part(cases: list[Result]) -> Iterator[str]:
    for case, size, time, memory in growth(cases):
        yield f"{case}: {size:.3g} times the size takes {time:.3g} times the time and {memory:.3g} times the memory"
    if (times := bend(cases)) is not None:
        kept = "kept" if times <= STRAIGHT else "**not kept**"
        yield f"straight line through the first two: the last takes {times:.3g} times it; bar {STRAIGHT:g}: {kept}"


def draw(results: list[Result], path: Path) -> None:
    """Write a picture (PNG): our time by that of each other side, on a logarithmic axis; below 1 we are faster.

    None where there is no other side: growth is that of ours alone.
    """
    rows = [
        {"case": f"{case.scenario.name}: {case.name}", "by": side.side, "ratio": ratio}
        for case in results
        for side in case.measured[1:]
        if (ratio := case.ratio(side)) is not None
    ]
    if not rows:
        return
    points = (
        altair.Chart(altair.Data(values=rows))
        .mark_point(filled=True, size=80)
        .encode(
            x=altair.X("ratio:Q", scale=altair.Scale(type="log"), title="our time / its time"),
            y=altair.Y("case:N", title=None, sort=None, axis=altair.Axis(labelLimit=400)),
            color=altair.Color("by:N", title=None),
            shape=altair.Shape("by:N", title=None),
        )
        .properties(width=600)
    )
    one = altair.Chart(altair.Data(values=[{"ratio": 1}])).mark_rule(strokeDash=[4, 4]).encode(x="ratio:Q")
    (points + one).save(path, ppi=150)
