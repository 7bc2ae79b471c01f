"""The scenarios, in the order in which they run."""

from benchmarks.scenario import Scenario
from benchmarks.scenarios import (
    dashboard,
    export,
    lake,
    lookup,
    publish,
    report,
    samples,
    score,
    search,
    spark,
    views,
)

SCENARIOS: tuple[Scenario, ...] = (
    samples.SCENARIO,
    views.SCENARIO,
    lookup.SCENARIO,
    search.SCENARIO,
    dashboard.SCENARIO,
    report.SCENARIO,
    score.SCENARIO,
    export.SCENARIO,
    publish.SCENARIO,
    lake.SCENARIO,
    spark.SCENARIO,
)
