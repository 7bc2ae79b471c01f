"""One dialogue, and one split, out of a view of many rows: the time shall follow the rows that are returned."""

from functools import partial
from pathlib import Path

import talkhouse
from benchmarks.scenario import Case, Scenario
from benchmarks.scenarios.views import SHARES
from benchmarks.shapes.large_warehouse import in_common
from benchmarks.sides.ask import asking

_VIEW = "mantis.response_ranking_50"
_SHARES = {"275,000 rows": SHARES["small"], "1.1 million rows": SHARES["large"], "10 million rows": (0.05, 1.8)}


def _case(folder: Path, *, name: str) -> Case:
    share, mantis = _SHARES[name]
    warehouse = in_common(folder, share, mantis)
    with talkhouse.open(warehouse) as con:
        ((dialogue_id, rows),) = con.sql(f"select min(dialogue_id), count(*) from {_VIEW}").fetchall()
    asked = {
        "a dialogue": f"from {_VIEW} where dialogue_id = '{dialogue_id}'",
        "a split": f"from {_VIEW} where split = 'dev'",
    }
    return Case(
        name,
        (
            asking("Talkhouse, where", asked, folder / "asked.json", warehouse),
            asking("Talkhouse, the whole view", {"all": f"from {_VIEW}"}, folder / "all.json", warehouse),
        ),
        size=rows,
    )


_LARGEST = list(_SHARES)[-1]

SCENARIO = Scenario(
    name="lookup",
    title="One dialogue and one split of a ranking",
    cases={name: partial(_case, name=name) for name in _SHARES},
    quick=("275,000 rows",),
    bar={f"{_LARGEST}: a dialogue": 0.02, f"{_LARGEST}: a split": 0.25},
    measure="cpu",
    grows=True,
    notes=(
        f"{_VIEW}: a dialogue has 51 rows, however many the view has; the split has a fifth of them.",
        "The growth is in rows stored: what follows the rows returned does not grow for a dialogue.",
    ),
)
