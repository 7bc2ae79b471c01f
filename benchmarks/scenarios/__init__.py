"""The scenarios, in the order in which they run."""

from benchmarks.scenario import Scenario
from benchmarks.scenarios import dashboard, lookup, report, samples, views

SCENARIOS: tuple[Scenario, ...] = (
    samples.SCENARIO,
    views.SCENARIO,
    lookup.SCENARIO,
    dashboard.SCENARIO,
    report.SCENARIO,
)
