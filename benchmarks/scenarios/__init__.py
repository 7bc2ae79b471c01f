"""The scenarios, in the order in which they run."""

from benchmarks.scenario import Scenario
from benchmarks.scenarios import decode, dump, files, frames, json_object, mpchat, negatives, own, ranking, samples

SCENARIOS: tuple[Scenario, ...] = (
    samples.SCENARIO,
    json_object.SCENARIO,
    files.SCENARIO,
    ranking.SCENARIO,
    json_object.GROWTH,
    files.GROWTH,
    ranking.GROWTH,
    mpchat.SCENARIO,
    frames.SCENARIO,
    own.SCENARIO,
    decode.SCENARIO,
    dump.SCENARIO,
    negatives.SCENARIO,
)
