"""The plan of the rooms in docs/read-the-code.md: who stands on whom, and how large each is.

``uv run python -m docs.plan`` prints it; ``uv run pytest --regen tests/test_docs.py`` writes it into the page.
"""

from collections import defaultdict
from pathlib import Path

from tests.test_layers import MODULES, ROOMS, room

ROUNDED_TO = 500
"""Lines are rounded to this, so that the plan changes seldom."""


def floors() -> list[list[str]]:
    """List the rooms floor by floor, from the ground: a room lies one floor above the highest that it may import."""
    heights: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in heights:
            heights[name] = 0  # ``cli`` may import every room, itself included
            heights[name] = 1 + max((height(below) for below in ROOMS[name] - {name}), default=-1)
        return heights[name]

    found = defaultdict(list)
    for name in sorted(ROOMS):
        found[height(name)].append(name)
    return [found[number] for number in sorted(found)]


def lines_of(paths: list[Path]) -> int:
    """Count the lines of files, blank ones included."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def plan() -> str:
    """Draw the plan as Markdown: a table with the top floor first."""
    paths = defaultdict(list)
    for module, path in MODULES.items():
        paths[room(module)].append(path)
    rows = ["| floor | rooms, and their lines |", "|---|---|"]
    levels = floors()
    for number, rooms in reversed([*enumerate(levels)]):
        cells = (
            f"`{name or 'talkhouse/*.py'}` {max(ROUNDED_TO, round(lines_of(paths[name]) / ROUNDED_TO) * ROUNDED_TO):,}"
            for name in sorted(rooms, key=lambda name: -lines_of(paths[name]))
        )
        rows.append(f"| {number} | {' · '.join(cells)} |")
    return "".join(f"{row}\n" for row in rows)


if __name__ == "__main__":
    print(plan())
