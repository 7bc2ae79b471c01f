"""What was measured, and what follows from it: medians, ratios, growth."""

from dataclasses import dataclass, replace
from statistics import median

from benchmarks.measure import Run
from benchmarks.scenario import Scenario


@dataclass(frozen=True)
class Measured:
    """The runs of one side, or why there are none."""

    side: str
    runs: tuple[Run, ...]
    failure: str | None = None

    def median(self, measure: str) -> float | None:
        """Return the median of a measure, or None if there are no runs or nothing was written."""
        values = [value for run in self.runs if (value := getattr(run, measure)) is not None]
        return median(values) if values else None


@dataclass(frozen=True)
class Result:
    """A case: its sides were run in turn, so that the runs of one number are of the same minute."""

    scenario: Scenario
    case: str
    size: float
    measured: tuple[Measured, ...]
    part: str = ""
    """Which of the case's parts, where it has some."""

    @property
    def name(self) -> str:
        """The case, and its part."""
        return f"{self.case}: {self.part}" if self.part else self.case

    def ratio(self, other: Measured) -> float | None:
        """Return our time by that of another side: the median over the rounds, or None if one has no runs."""
        own, peers = self.measured[0].runs, other.runs
        if not own or not peers:
            return None
        name = self.scenario.measure
        return median(getattr(a, name) / getattr(b, name) for a, b in zip(own, peers, strict=True))

    @property
    def bar(self) -> float | None:
        """The ratio to the second side that is wanted at most."""
        return self.scenario.bar.get(self.name, self.scenario.bar.get(self.case))

    @property
    def limit(self) -> float | None:
        """The seconds that we may take at most."""
        return self.scenario.limit.get(self.case)

    @property
    def is_kept(self) -> bool | None:
        """Whether the bar is kept, or None if there is none or a side has no runs."""
        ratio = self.ratio(self.measured[1]) if len(self.measured) > 1 else None
        return None if self.bar is None or ratio is None else ratio <= self.bar


STRAIGHT = 1.15
"""What growth may take at most of what a straight line foretells."""


def parted(result: Result) -> list[Result]:
    """Return a result for each part that our side has told; another side without parts is compared as a whole."""
    parts = next((run.parts for run in result.measured[0].runs), {})
    return [_of_part(result, part) for part in parts] or [result]


def _of_part(result: Result, part: str) -> Result:
    sides = [replace(side, runs=tuple(run.parts.get(part, run) for run in side.runs)) for side in result.measured]
    return replace(result, part=part, measured=tuple(sides))


def growth(results: list[Result]) -> list[tuple[str, float, float, float]]:
    """Return, for each case after the smallest, how many times the size, our time and our memory are.

    ``results`` are of one part of a scenario.
    """
    known = sorted((result for result in results if result.measured[0].runs), key=lambda result: result.size)
    if len(known) < 2:
        return []
    first = known[0]
    base, memory = (first.measured[0].median(name) or 0 for name in (first.scenario.measure, "peak"))
    return [
        (
            result.name,
            result.size / first.size,
            (result.measured[0].median(result.scenario.measure) or 0) / base,
            (result.measured[0].median("peak") or 0) / memory,
        )
        for result in known[1:]
    ]


def bend(results: list[Result]) -> float | None:
    """Return our time in the largest case, by what a straight line through the two smallest foretells for its size.

    None where there are fewer than three cases, or one has no runs.
    """
    points = sorted((result.size, result.measured[0].median(result.scenario.measure) or 0) for result in results)
    if len(points) < 3 or not all(time for _, time in points):
        return None
    (size, time), (second_size, second), (last_size, last) = points[0], points[1], points[-1]
    return last / (time + (second - time) / (second_size - size) * (last_size - size))
