"""Scenarios are whole, invented files are as published, and growth that is not straight is seen."""

import json
from collections.abc import Callable

import msgspec
import pytest

from benchmarks.dbdc3_shape import logs
from benchmarks.measure import Run
from benchmarks.results import STRAIGHT, Measured, Result, bend
from benchmarks.scenario import Scenario
from benchmarks.scenarios import SCENARIOS
from talkhouse.ingest.corpora.dbdc3.format import Log


def test_quick_runs_and_bars_are_of_cases_that_there_are() -> None:
    for scenario in SCENARIOS:
        assert {*scenario.quick, *scenario.bar} <= {*scenario.cases}, scenario.name
    assert len({scenario.name for scenario in SCENARIOS}) == len(SCENARIOS)


def test_an_invented_log_is_written_as_its_publisher_writes() -> None:
    path, text = next(logs(1))
    assert path == "DBDC3/dbdc3/en/dev/IRIS_100/iris_00000.log.json"
    assert text == json.dumps(json.loads(text), indent=4)
    log = msgspec.json.decode(text, type=Log)
    labels = [[*turn.annotations] if turn.annotations else [] for turn in log.turns]
    assert [(turn.speaker, len(found)) for turn, found in zip(log.turns, labels, strict=True)] == [
        ("U", 0),
        ("S", 30),
    ] * 10


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
