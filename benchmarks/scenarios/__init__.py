"""The scenarios, in the order in which they run."""

from benchmarks.scenario import Scenario
from benchmarks.scenarios import json_object, samples

SCENARIOS: tuple[Scenario, ...] = (samples.SCENARIO, json_object.SCENARIO, json_object.GROWTH)
