"""The report: the machine and the results, as Markdown, as JSON and as a picture."""

import platform
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any

import altair
import psutil

from benchmarks.results import STRAIGHT, Measured, Result, bend, growth

_PACKAGES = ("talkhouse", "duckdb", "polars", "sqlalchemy", "msgspec")
_HEAD = ("case", "by", "s, median", "min to max", "processor s", "peak MB", "wrote MB", "ours / its")


def machine() -> dict[str, str]:
    """Return the facts that decide how fast a run is."""
    processor = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "processor": f"{processor}, {psutil.cpu_count()} logical cores",
        "memory": f"{psutil.virtual_memory().total / 1e9:.0f} GB",
        "system": platform.platform(terse=True),
        "Python": sys.version.split()[0],
        "versions": ", ".join(f"{name} {version(name)}" for name in _PACKAGES),
        "busy": f"{psutil.getloadavg()[0]:.1f} processes on average in the minute before",
    }


def markdown(machine: dict[str, str], results: list[Result]) -> str:
    """Return the whole report."""
    lines = ["# Benchmarks", "", *(f"- {name}: {value}" for name, value in machine.items()), ""]
    for scenario, of_it in groupby(results, key=lambda result: result.scenario):
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
            verdict = "kept" if case.is_kept else "**not kept**"
            other = case.measured[1].side
            yield f"{case.name}: {what} {_number(ratio)} times that of {other}; bar {case.bar:g}: {verdict}"
        if case.limit is not None and (seconds := case.measured[0].median("seconds")) is not None:
            verdict = "kept" if seconds <= case.limit else "**not kept**"
            yield f"{case.name}: {_number(seconds)} s; at most {case.limit:g} s: {verdict}"


def _growth(cases: list[Result]) -> Iterator[str]:
    for part in dict.fromkeys(case.part for case in cases):
        yield from _growth_of_part([case for case in cases if case.part == part])


def _growth_of_part(cases: list[Result]) -> Iterator[str]:
    for case, size, time, memory in growth(cases):
        yield f"{case}: {size:.3g} times the size takes {time:.3g} times the time and {memory:.3g} times the memory"
    if (times := bend(cases)) is not None:
        verdict = "kept" if times <= STRAIGHT else "**not kept**"
        yield f"straight line through the first two: the last takes {times:.3g} times it; bar {STRAIGHT:g}: {verdict}"


def as_json(machine: dict[str, str], results: list[Result]) -> dict[str, Any]:
    """Return everything, each run too."""
    return {
        "machine": machine,
        "results": [
            {
                "scenario": result.scenario.name,
                "title": result.scenario.title,
                "case": result.name,
                "size": result.size,
                "measure": result.scenario.measure,
                "bar": result.bar,
                "limit": result.limit,
                "kept": result.is_kept,
                "sides": [
                    asdict(side) | {"ratio": None if side is result.measured[0] else result.ratio(side)}
                    for side in result.measured
                ],
            }
            for result in results
        ],
    }


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
    line = altair.Chart(altair.Data(values=[{"ratio": 1}])).mark_rule(strokeDash=[4, 4]).encode(x="ratio:Q")
    (points + line).save(path, ppi=150)
