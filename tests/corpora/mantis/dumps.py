"""Invented dumps of Stack Exchange sites, in the form of real ones, and what the authors' rules make of them."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from tests.data_files import data_of

DATA = data_of(__file__)

Row = dict[str, str]

_NAN = float("nan")
_BODIES = DATA["bodies"]
_COMMENTS = DATA["comments"]
_THINGS = ["hose", "spade", "pot", "seed", "root", "leaf", "shed", "rake", "soil", "worm", "moss", "fern"]


@dataclass
class InventedDump:
    """The rows of a site's four files."""

    posts: list[Row] = field(default_factory=list)
    comments: list[Row] = field(default_factory=list)
    users: list[Row] = field(default_factory=list)
    votes: list[Row] = field(default_factory=list)

    def write(self, folder: Path) -> Path:
        """Write the files of a dump; return the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("posts", "comments", "users", "votes"):
            lines = [
                f"  <row {' '.join(f'{key}={_quoted(value)}' for key, value in row.items())} />"
                for row in getattr(self, name)
            ]
            text = "\r\n".join(['<?xml version="1.0" encoding="utf-8"?>', f"<{name}>", *lines, f"</{name}>"])
            (folder / f"{name.capitalize()}.xml").write_bytes(text.encode())
        return folder


def _quoted(value: str) -> str:
    return quoteattr(value, {"\n": "&#xA;", "\r": "&#xD;", "\t": "&#x9;", '"': "&quot;"})


def invent(seed: int, questions: int = 12) -> InventedDump:
    """Invent a dump in which few people, times and words meet often, so that rare cases are frequent."""
    chance, dump, people = random.Random(seed), InventedDump(), [str(number) for number in (-1, *range(1, 6))]  # noqa: S311 - invented
    dump.users = [{"Id": person, "DisplayName": f"P{person}"} for person in people if chance.random() < 0.9]
    number = iter(range(1, 10**6))
    for _ in range(questions):
        asker, question = chance.choice(people), next(number)
        dump.posts.append(_post(chance, question, "1", asker, Title=f"How, {chance.choice(_THINGS)}?"))
        dump.comments += _comments(chance, number, question, people)
        for _ in range(chance.randrange(4)):
            answer, answerer = next(number), chance.choice(people)
            parent = {"ParentId": str(chance.choice([question] * 9 + [99999]))}
            dump.posts.append(_post(chance, answer, "2", answerer, **parent))
            dump.comments += _comments(chance, number, answer, [asker, answerer] if chance.random() < 0.8 else people)
    dump.posts += [_post(chance, next(number), "4", "1") for _ in range(2)]
    posts = [row["Id"] for row in dump.posts]
    dump.votes = [
        {"Id": str(n), "PostId": chance.choice(posts), "VoteTypeId": str(chance.choice([1, 2, 4, 12]))}
        for n in range(4)
    ]
    for rows in (dump.posts, dump.comments):
        if chance.random() < 0.5:
            chance.shuffle(rows)
    return dump


def _post(chance: random.Random, post: int, kind: str, owner: str, **more: str) -> Row:
    row = {"Id": str(post), "PostTypeId": kind, "CreationDate": _time(chance), "Body": _text(chance, _BODIES), **more}
    if chance.random() < 0.95:
        row["OwnerUserId"] = owner
    if chance.random() < 0.9:
        row["Score"] = str(chance.randrange(-2, 9))
    return row


def _comments(chance: random.Random, number: Iterator[int], post: int, people: Sequence[str]) -> list[Row]:
    rows = []
    for _ in range(chance.randrange(6)):
        text = _text(chance, _COMMENTS)
        row = {"Id": str(next(number)), "PostId": str(post), "Text": text, "CreationDate": _time(chance), "Score": "0"}
        if chance.random() < 0.9:
            row["UserId"] = chance.choice(people)
        rows.append(row)
    return rows


def _time(chance: random.Random) -> str:
    return f"2012-03-{chance.randrange(1, 5):02}T08:16:0{chance.randrange(3)}.558"


def _text(chance: random.Random, patterns: Sequence[str]) -> str:
    return re.sub(r"\{\}", lambda _: chance.choice(_THINGS), chance.choice(patterns))


def expected(dump: InventedDump, site: str, threshold: float, score: Any) -> list[dict[str, Any]]:
    """Return the dialogues by the rules, slowly: one table of posts with comments, walked row by row."""
    flagged = {row["PostId"] for row in dump.votes if row["VoteTypeId"] in ("4", "12")}
    names = {row["Id"]: row["DisplayName"] for row in dump.users}
    posts = [row for row in dump.posts if "OwnerUserId" in row and row["Id"] not in flagged]
    table: list[tuple[Row, Row | None]] = []
    for post in posts:
        own = [comment for comment in dump.comments if comment["PostId"] == post["Id"]]
        table += [(post, comment) for comment in own] or [(post, None)]
    table.sort(key=lambda row: (row[0]["CreationDate"], row[1]["CreationDate"] if row[1] else "~"))
    questions = list({post["Id"]: post for post, _ in table if post["PostTypeId"] == "1"}.values())
    dialogues = []
    for question in questions:
        previous, talks = None, list[list[tuple[Row, Row | None]]]()
        for post, comment in table:
            if post.get("ParentId") != question["Id"] or post["PostTypeId"] != "2":
                continue
            if (comment and "UserId" not in comment) or post["OwnerUserId"] == question["OwnerUserId"]:
                continue
            if post["Id"] != previous:
                talks.append([])
            talks[-1].append((post, comment))
            previous = post["Id"]
        dialogues += [talk for rows in talks if (talk := _talk(question, rows, site, names))]
    return [talk for talk in dialogues if _is_kept(talk, threshold, score)]


def _talk(question: Row, rows: Sequence[tuple[Row, Row | None]], site: str, names: Mapping[str, str]) -> dict[str, Any]:
    answer = rows[0][0]
    parts = [(question, question["OwnerUserId"], question["Id"]), (answer, answer["OwnerUserId"], answer["Id"])]
    parts += [(row, row["UserId"], f"{answer['Id']}-{float(row['Id'])}") for _, row in rows if row]
    utterances: list[dict[str, Any]] = []
    is_glued = 0
    for row, person, key in parts:
        text = _cleaned(row["Body"] if "Body" in row else row["Text"])
        if utterances and utterances[-1]["user_id"] == float(person):
            utterances[-1]["utterance"] += text
            is_glued = 1
            continue
        role = "user" if person == question["OwnerUserId"] else "agent"
        said_by = {"actor_type": role, "user_name": names.get(person, _NAN), "user_id": float(person)}
        content = {"utterance": text, "utterance_time": row["CreationDate"], "utterance_pos": len(utterances) + 1}
        utterances.append(content | said_by | {"votes": row.get("Score", _NAN), "id": key, "is_answer": 0})
    return {
        "category": site,
        "title": question["Title"],
        "dialog_time": question["CreationDate"],
        "utterances": utterances,
        "has_concatenated_utterances": is_glued,
    }


def _cleaned(text: str) -> str:
    allowed = ("<a", "<br", "<blockquote", "<pre", "<code", "</blockquote", "</pre", "</code")
    rest, cleaned = text, ""
    while rest:
        end = rest.find(">")
        if rest[0] == "<" and not rest.startswith(allowed) and end > 0 and "\n" not in rest[:end]:
            rest = rest[end + 1 :]
        else:
            cleaned, rest = cleaned + rest[0], rest[1:]
    return re.sub("[\n\r\t]", "", cleaned) or "<Placeholder Response>"


def _is_kept(talk: Mapping[str, Any], threshold: float, score: Any) -> bool:
    utterances = talk["utterances"]
    agents = [utterance["utterance"] for utterance in utterances if utterance["actor_type"] == "agent"]
    return (
        len({utterance["user_id"] for utterance in utterances}) <= 2
        and len(agents) >= 2
        and any("href" in text or re.search("https?://[a-z0-9 ]", text) for text in agents)
        and (utterances[-1]["actor_type"] == "agent" or score(utterances[-1]["utterance"]) >= threshold)
        and not any("edit:" in text.lower() or "deprecated:" in text.lower() for text in agents)
    )
