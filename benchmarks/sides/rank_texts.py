"""Ranks the texts of a warehouse by queries, and prints what each took with the index open and warm.

python -m benchmarks.sides.rank_texts WAREHOUSE QUERIES.json
"""

import json
import sys
from pathlib import Path

import talkhouse
from benchmarks.sides.clock import timed
from talkhouse.explore.ranked import rank
from talkhouse.explore.search_index import INDEX, make_index


def main() -> None:
    """Rank what the arguments say."""
    path = Path(sys.argv[1])
    queries: dict[str, list[str]] = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    INDEX.path(path).unlink(missing_ok=True)
    took = {"the index": timed(make_index, path, lambda _: None)}
    with talkhouse.open(path) as con, INDEX.open(INDEX.path(path)) as index:
        for name, words in queries.items():
            rank(con, index, " ".join(words), {})
            took[name] = timed(rank, con, index, " ".join(words), {})
    print(json.dumps(took))


if __name__ == "__main__":
    main()
