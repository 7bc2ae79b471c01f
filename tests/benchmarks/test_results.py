"""Scenarios are whole, and growth that is not straight is seen."""

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.measure import Run
from benchmarks.report import draw
from benchmarks.results import STRAIGHT, Measured, Result, bend
from benchmarks.scenario import Scenario


def test_quick_runs_and_bars_are_of_cases_that_there_are() -> None:
    from benchmarks.__main__ import SCENARIOS  # whatever they measure is imported too

    for scenario in SCENARIOS:
        assert {*scenario.quick} <= {*scenario.cases}, scenario.name
        for bar in scenario.bar:  # of a case, or of one of its parts: "case: part"
            assert bar in scenario.cases or bar.rpartition(": ")[0] in scenario.cases, scenario.name
        assert scenario.barred or not (scenario.bar or scenario.limit), scenario.name
    assert len({scenario.name for scenario in SCENARIOS}) == len(SCENARIOS)


@pytest.mark.parametrize(
    ("seconds", "is_straight"),
    [(lambda size: 1 + 2 * size, True), (lambda size: size**1.05, True), (lambda size: size * size, False)],
    ids=["a fixed cost and a rate", "a little more", "quadratic"],
)
def test_growth_is_compared_with_a_straight_line(seconds: Callable[[float], float], *, is_straight: bool) -> None:
    scenario = Scenario("one", "One", {}, (), grows=True)
    results = [
        Result(scenario, str(size), size, (Measured("ours", (Run(seconds(size), 0, 1, None),)),)) for size in (1, 4, 16)
    ]
    found = bend(results)
    assert found is not None
    assert (found <= STRAIGHT) is is_straight


def test_what_is_compared_with_nothing_has_no_picture(tmp_path: Path) -> None:
    alone = Result(Scenario("one", "One", {}, ()), "small", 1, (Measured("ours", (Run(1, 0, 1, None),)),))
    beside = Result(alone.scenario, "small", 1, (*alone.measured, Measured("its", (Run(2, 0, 1, None),))))
    draw([alone], tmp_path / "alone.png")
    draw([beside], tmp_path / "beside.png")
    assert [path.name for path in tmp_path.iterdir()] == ["beside.png"]
