"""The scenarios, in the order in which they run."""

from benchmarks.scenario import Scenario
from benchmarks.scenarios import samples

SCENARIOS: tuple[Scenario, ...] = (samples.SCENARIO,)
