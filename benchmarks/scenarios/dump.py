"""From an invented Stack Exchange dump to MANtIS's JSON, compared with raw expat on the same files.

    python -m benchmarks.scenarios.dump FOLDER

reads Posts.xml and Comments.xml of a dump to columns, as MANtIS's maker does, and no further.
"""

import random
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.scenario import Case, Scenario, command, module, peer
from talkhouse.ingest.corpora.mantis.make.site import Row, XmlRows

_LARGE_FILES = ("Posts.xml", "Comments.xml")


def _case(megabytes: int, folder: Path) -> Case:
    dump, out = folder / "travel", folder / "made"
    dump.mkdir()
    write_dump(dump, megabytes * 1_000_000)
    read = [dump / file for file in _LARGE_FILES]
    sides = (
        command("make", "mantis", dump, "--negatives", "none", "--output", out, name="talkhouse make", writes=out),
        peer("expat without handlers", "expat_parse", *read),
        module("XML to columns alone", __name__, dump, is_part=False),
    )
    return Case(sides, sum(path.stat().st_size for path in read) / 1e6)


SCENARIO = Scenario(
    name="dump",
    title="Make MANtIS's files from a Stack Exchange dump",
    cases={f"{size} MB of posts": partial(_case, size) for size in (300, 20)},
    quick=("20 MB of posts",),
    measure="cpu",
    notes=(
        "Whole processes. expat only checks that Posts.xml, and Comments.xml of half its size, are well-formed.",
        "Posts are streamed; a site's comments are in memory.",
    ),
)


_WORDS = (
    *("the", "a", "of", "to", "and", "is", "in", "it", "you", "that", "for", "on", "with", "this", "have", "be", "not"),
    *("are", "as", "great", "thanks", "bad", "error", "file", "disk"),
)


def write_dump(folder: Path, size: int) -> None:
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


_PIECE = 1_000_000
_COLUMNS = ("Id", "PostTypeId", "ParentId", "OwnerUserId", "CreationDate", "Score", "Title", "Body")


def columns(path: Path) -> None:
    """Read a file to columns, a block of rows at a time."""
    values: list[list[str | None]] = []

    def take(rows: list[Row]) -> None:
        values[:] = [[row.get(column) for row in rows] for column in _COLUMNS]

    rows = XmlRows(path.name, path.stem.lower(), take, lambda *_: None)
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE):
            rows.feed(piece)
    rows.close()


if __name__ == "__main__":
    for name in _LARGE_FILES:
        columns(Path(sys.argv[1]) / name)
