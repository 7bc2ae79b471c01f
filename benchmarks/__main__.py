"""Compares Talkhouse with other tools, on the same invented files in one run.

    uv run --group bench python -m benchmarks [--quick | --bars] [--only NAME ...] [--output FOLDER]

Each side of a case is run once to warm up, and then five times in turn with the others. The report is printed, and
written as results.md, results.json and ratios.png. What has no package index at hand tells so in its place.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.measure import Run, SideFailed, run
from benchmarks.report import as_json, draw, machine, markdown
from benchmarks.results import Measured, Result, parted
from benchmarks.scenario import Case, Scenario
from benchmarks.scenarios import (
    commands,
    dashboard,
    decode,
    dump,
    export,
    files,
    frames,
    lake,
    mantis,
    mpchat,
    negatives,
    nights,
    overlap,
    own,
    publish,
    report,
    score,
    search,
    spark,
    states,
    views,
)

SCENARIOS: tuple[Scenario, ...] = (
    commands.COMMANDS,
    commands.SAMPLES,
    mantis.JSON,
    files.SCENARIO,
    mantis.RANKING,
    mantis.JSON_GROWTH,
    files.GROWTH,
    mantis.RANKING_GROWTH,
    views.VIEWS,
    views.LOOKUP,
    search.SEARCH,
    dashboard.SCENARIO,
    report.SCENARIO,
    publish.SCENARIO,
    states.RELEASES,
    states.DIFF,
    score.SCENARIO,
    overlap.SCENARIO,
    search.RANKED,
    export.SCENARIO,
    export.CHAT,
    lake.SCENARIO,
    spark.SCENARIO,
    mpchat.SCENARIO,
    frames.SCENARIO,
    own.OWN,
    own.SHAPES,
    own.JOBS,
    nights.SCENARIO,
    decode.SCENARIO,
    dump.SCENARIO,
    negatives.SCENARIO,
)
"""In the order in which they run."""

_REPEAT = 5
_QUICK_REPEAT = 3


def measured(scenario: Scenario, name: str, case: Case, repeat: int) -> list[Result]:
    """Run the sides of a case in turn; one that fails is not run again."""
    runs: dict[str, list[Run]] = {side.name: [] for side in case.sides}
    failures: dict[str, str] = {}
    for number in range(repeat + 1):
        for side in case.sides:
            if side.name in failures:
                continue
            print(f"{scenario.name}, {name}: {side.name}, {number} of {repeat}", file=sys.stderr, flush=True)
            try:
                measured = run(side)
            except SideFailed as reason:
                failures[side.name], runs[side.name] = str(reason), []
                continue
            if number:
                runs[side.name].append(measured)
    sides = [Measured(side.name, tuple(runs[side.name]), failures.get(side.name)) for side in case.sides]
    return parted(Result(scenario, name, case.size, tuple(sides)))


def wanted(scenario: Scenario, *, is_quick: bool, only_bars: bool) -> tuple[str, ...]:
    """Return the names of the cases to run."""
    if only_bars:
        return scenario.barred
    return scenario.quick if is_quick else tuple(scenario.cases)


def results(names: list[str], repeat: int, *, is_quick: bool, only_bars: bool, folder: Path) -> list[Result]:
    """Run the scenarios; the files of a case are removed after it, those that several have in common at the end.

    ``only_bars``: only what the bars compare, our side and one other.
    """
    done = []
    with tempfile.TemporaryDirectory(dir=folder) as common:
        for scenario in SCENARIOS:
            if names and scenario.name not in names:
                continue
            for name in wanted(scenario, is_quick=is_quick, only_bars=only_bars):
                with tempfile.TemporaryDirectory(dir=common) as place:
                    case = scenario.cases[name](Path(place))
                    case = replace(case, sides=case.sides[:2]) if only_bars else case
                    done += measured(scenario, name, case, repeat)
    return done


def main() -> None:
    """Run what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small files and three rounds: five minutes")
    size.add_argument("--bars", action="store_true", help="only the cases and sides that a bar is for")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", choices=[item.name for item in SCENARIOS])
    parser.add_argument(
        "--repeat", type=int, help=f"rounds after the warm-up; {_REPEAT}, and {_QUICK_REPEAT} of --quick"
    )
    parser.add_argument("--output", type=Path, default=Path("benchmark-results"), metavar="FOLDER")
    parser.add_argument("--files", type=Path, metavar="FOLDER", help="where files are invented: up to 8 GB at once")
    parser.add_argument("--list", action="store_true", help="print the scenarios and their cases")
    arguments = parser.parse_args()
    if arguments.list:
        for scenario in SCENARIOS:
            print(f"{scenario.name}: {scenario.title} ({', '.join(scenario.cases)})")
        return
    facts = machine()
    repeat = arguments.repeat or (_QUICK_REPEAT if arguments.quick else _REPEAT)
    chosen = {"is_quick": arguments.quick, "only_bars": arguments.bars}
    done = results(arguments.only, repeat, **chosen, folder=arguments.files)
    arguments.output.mkdir(parents=True, exist_ok=True)
    text = markdown(facts, done)
    (arguments.output / "results.md").write_text(text, encoding="utf-8")
    (arguments.output / "results.json").write_text(json.dumps(as_json(facts, done), indent=2), encoding="utf-8")
    draw(done, arguments.output / "ratios.png")
    print(text)


if __name__ == "__main__":
    main()
