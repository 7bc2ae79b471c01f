"""From an invented Stack Exchange dump to MANtIS's JSON, beside raw expat on the same files: processor time and memory.

    uv run python -m benchmarks.mantis_dump --megabytes 300

The dump has Posts.xml of that size and Comments.xml of half of it; a tenth of the answers has a talk of two people.
Each step runs in a process of its own, in turn, five times; figures are medians.
"""

import argparse
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

from benchmarks.memory import peak
from talkhouse.ingest.corpora.mantis.make.from_dumps import make
from talkhouse.ingest.corpora.mantis.make.xml_rows import Row, XmlRows
from talkhouse.ingest.making import MakeOptions

_PIECE = 1_000_000
_READ = ("Posts.xml", "Comments.xml")
_WORDS = (
    *("the", "a", "of", "to", "and", "is", "in", "it", "you", "that", "for", "on", "with", "this", "have", "be", "not"),
    *("are", "as", "great", "thanks", "bad", "error", "file", "disk"),
)
_COLUMNS = ("Id", "PostTypeId", "ParentId", "OwnerUserId", "CreationDate", "Score", "Title", "Body")


class Silent:
    """Shows nothing."""

    def begin(self, step: str, *, records: int = 0, size: int = 0, unit: str = "records") -> None:
        """Show nothing."""

    def advance(self, records: int, size: int = 0) -> None:
        """Show nothing."""


def invent(folder: Path, size: int) -> None:
    """Write a site's dump, Posts.xml of so many bytes."""
    chance = random.Random(7)
    vocabulary = [*_WORDS, *("".join(chance.choices("etaoinshr", k=chance.randint(3, 9))) for _ in range(5000))]
    users = 5000
    with (folder / "Posts.xml").open("w") as posts, (folder / "Comments.xml").open("w") as comments:
        posts.write('<?xml version="1.0" encoding="utf-8"?>\r\n<posts>\r\n')
        comments.write('<?xml version="1.0" encoding="utf-8"?>\r\n<comments>\r\n')
        for number, row in enumerate(_threads(chance, vocabulary, users)):
            (posts if " PostTypeId=" in row else comments).write(row)
            if number % 100 == 0 and posts.tell() > size:
                break
        posts.write("</posts>")
        comments.write("</comments>")
    names = "".join(f'  <row Id="{user}" DisplayName="Person {user}" />\r\n' for user in range(users))
    (folder / "Users.xml").write_text(f"<users>\r\n{names}</users>")
    votes = "".join(
        f'  <row Id="{n}" PostId="{n * 7}" VoteTypeId="{2 if n % 99 else 4}" />\r\n' for n in range(size // 3000)
    )
    (folder / "Votes.xml").write_text(f"<votes>\r\n{votes}</votes>")


def _threads(chance: random.Random, vocabulary: list[str], users: int) -> Iterator[str]:
    """Yield a question, then each of its answers followed by its comments, and so on."""
    number = 0
    while True:
        number, question, asker = number + 1, number + 1, chance.randrange(users)
        yield _post(chance, vocabulary, question, asker, f'PostTypeId="1" Title="How to {question}?"')
        for _ in range(chance.choice((0, 1, 1, 2, 4))):
            number, answerer = number + 1, chance.randrange(users)
            answer = number
            yield _post(chance, vocabulary, answer, answerer, f'PostTypeId="2" ParentId="{question}"')
            talkers = [asker, answerer] if chance.random() < 0.1 else [chance.randrange(users) for _ in range(3)]
            for person in chance.choices(talkers, k=chance.choice((0, 1, 2, 5, 6))):
                number += 1
                text = " ".join(chance.choices(vocabulary, k=chance.randint(5, 70)))
                yield (
                    f'  <row Id="{number}" PostId="{answer}" Score="0" Text="{text}" '
                    f'CreationDate="{_time(number)}" UserId="{person}" ContentLicense="CC BY-SA 4.0" />\r\n'
                )


def _post(chance: random.Random, vocabulary: list[str], post: int, owner: int, more: str) -> str:
    lines = (" ".join(chance.choices(vocabulary, k=chance.randint(20, 60))) for _ in range(chance.randint(1, 5)))
    body = "".join(f"&lt;p&gt;{line}&lt;/p&gt;&#xA;&#xA;" for line in lines)
    link = "&lt;a href=&quot;https://example.org/1&quot;&gt;this&lt;/a&gt;"
    return (
        f'  <row Id="{post}" {more} CreationDate="{_time(post)}" Score="3" Body="{body}{link}" OwnerUserId="{owner}" '
        f'LastActivityDate="{_time(post)}" CommentCount="1" ContentLicense="CC BY-SA 4.0" />\r\n'
    )


def _time(number: int) -> str:
    days, seconds = divmod(number, 86_400)
    hour, rest = divmod(seconds, 3600)
    date = f"20{10 + days // 336:02}-{1 + days // 28 % 12:02}-{1 + days % 28:02}"
    return f"{date}T{hour:02}:{rest // 60:02}:{rest % 60:02}.000"


def raw(folder: Path) -> None:
    """Let expat check Posts.xml and Comments.xml, without handlers."""
    for name in _READ:
        parser = expat.ParserCreate()
        with (folder / name).open("rb") as stream:
            while piece := stream.read(_PIECE):
                parser.Parse(piece)


def columns(folder: Path) -> None:
    """Read both files to columns."""
    for name in _READ:
        values: list[list[str | None]] = []

        def take(rows: list[Row], values: list[list[str | None]] = values) -> None:
            values[:] = [[row.get(column) for row in rows] for column in _COLUMNS]

        rows = XmlRows(name, name[:-4].lower(), take, lambda *_: None)
        with (folder / name).open("rb") as stream:
            while piece := stream.read(_PIECE):
                rows.feed(piece)
        rows.close()


def to_json(folder: Path) -> None:
    """Make the dialogues."""
    with tempfile.TemporaryDirectory() as made:
        make([folder], MakeOptions(sites=("travel",)), Path(made), Silent())


STEPS = {"raw expat": raw, "XML to columns": columns, "dump to JSON": to_json}


def measure(step: str, folder: Path) -> None:
    """Print the processor seconds and the peak of memory in MB of one step."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    STEPS[step](folder)
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, peak())


def main() -> None:
    """Measure every step and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--step", choices=STEPS)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.step:
        measure(options.step, options.folder)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if not (folder / "Votes.xml").exists():
            invent(folder, options.megabytes * 1_000_000)
        sizes = {name: (folder / name).stat().st_size / 1e6 for name in _READ}
        print(", ".join(f"{name} {size:,.0f} MB" for name, size in sizes.items()))
        figures: dict[str, list[tuple[float, float]]] = {step: [] for step in STEPS}
        for _ in range(options.times):
            for step in STEPS:
                command = [sys.executable, "-m", "benchmarks.mantis_dump", "--step", step, "--folder", str(folder)]
                seconds, memory = map(
                    float, subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
                )
                figures[step].append((seconds, memory))
        floor = statistics.median(seconds for seconds, _ in figures["raw expat"])
        for step, runs in figures.items():
            seconds = statistics.median(seconds for seconds, _ in runs)
            print(f"{step:15} {seconds:6.2f} s  {seconds / floor:5.2f}  {max(memory for _, memory in runs):6.0f} MB")


if __name__ == "__main__":
    main()
