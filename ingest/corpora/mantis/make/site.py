"""What is kept of a site's dump while it is read: answers that two people may have talked about, and who wrote what.

A dialogue needs a comment of the asker and one of the answerer, so other answers are kept without their text, and of
questions only where their text lies in a temporary file.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import IO, NamedTuple

from talkhouse.ingest.corpora.mantis.make.xml_rows import Report, Row
from talkhouse.ingest.making import NotMade

QUESTION, ANSWER = "1", "2"
_FLAGS = ("4", "12")
"""Votes that a post is offensive, or spam."""

_NUMBER = re.compile("-?[0-9]{1,15}")
_NUMBERS = {
    "Comments.xml": ("Id", "PostId", "UserId"),
    "Posts.xml": ("Id", "ParentId", "OwnerUserId"),
    "Users.xml": ("Id",),
    "Votes.xml": ("PostId",),
}
"""Attributes that are numbers, which is how the authors' code compares people and posts."""

_OPTIONAL = ("UserId", "ParentId", "OwnerUserId")

LAST = "\uffff"
"""Sorts after every time: a comment, or its time, that is missing."""

REPEATED = "repeated_posts"
EMPTY = "empty_comments"
"""Kinds of findings."""


class Comment(NamedTuple):
    """A comment; of one whose account is gone, only the time is kept."""

    time: str | None
    user: float | None
    """None: the account is gone."""
    id: str
    score: str | None
    text: str


@dataclass(slots=True)
class Question:
    """A question; its text is at ``start`` of the temporary file, so many bytes long."""

    place: int
    """Its place among the posts."""
    id: int
    user: float
    time: str | None
    score: str | None
    title: str | None
    start: int
    size: int


@dataclass(slots=True)
class Answer:
    """An answer; ``body`` is None where its people can't have had a dialogue."""

    place: int
    id: int
    question: int | None
    user: float | None
    time: str | None
    score: str | None
    body: str | None


@dataclass
class Dump:
    """One site's dump as it is read, in the order of ``take``: comments, posts, users, votes."""

    report: Report
    texts: IO[bytes]
    """Where the texts of questions are written to."""
    comments: defaultdict[int, list[Comment]] = field(default_factory=lambda: defaultdict(list))
    questions: dict[int, Question] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)
    names: dict[float, str] = field(default_factory=dict)
    flagged: set[int] = field(default_factory=set)
    without_owner: set[int] = field(default_factory=set)
    """Questions of people whose account is gone."""
    licences: Counter[str] = field(default_factory=Counter)
    """Posts by their licence, where a dump says it."""
    _seen: set[int] = field(default_factory=set)
    _people: set[float | None] = field(default_factory=set)
    _end: int = 0
    """Bytes of the texts."""

    def take(self, part: str) -> Callable[[Sequence[Row]], None]:
        """Return what takes the rows of a file."""
        take = {
            "Comments.xml": self._take_comments,
            "Posts.xml": self._take_posts,
            "Users.xml": self._take_users,
            "Votes.xml": self._take_votes,
        }[part]

        def checked(rows: Sequence[Row]) -> None:
            try:
                take(rows)
            except (KeyError, ValueError):
                _check_numbers(part, rows)
                raise

        return checked

    def text(self, question: Question) -> str:
        """Read the text of a question."""
        self.texts.seek(question.start)
        return self.texts.read(question.size).decode()

    def _take_comments(self, rows: Sequence[Row]) -> None:
        comments = self.comments
        for row in rows:
            get, post = row.get, int(row["PostId"])
            if "UserId" not in row:
                comments[post].append(Comment(get("CreationDate"), None, "", None, ""))
                continue
            text = get("Text", "")
            if not text:
                self.report(EMPTY, f"Comments.xml, comment {row['Id']}")
            comments[post].append(Comment(get("CreationDate"), float(row["UserId"]), row["Id"], get("Score"), text))

    def _take_posts(self, rows: Sequence[Row]) -> None:
        for row in rows:
            post, kind = int(row["Id"]), row.get("PostTypeId")
            if post in self._seen:
                self.report(REPEATED, f"Posts.xml, post {post}")
                continue
            self._seen.add(post)
            if kind == QUESTION:
                self._take_question(post, row)
            elif kind == ANSWER:
                self._take_answer(post, row)
            if licence := row.get("ContentLicense"):
                self.licences[licence] += 1

    def _take_question(self, post: int, row: Row) -> None:
        if "OwnerUserId" not in row:
            self.without_owner.add(post)
            return
        get, user = row.get, float(row["OwnerUserId"])
        start, size = self._end, self.texts.write(get("Body", "").encode())
        self._end += size
        place, time = len(self._seen), get("CreationDate")
        self.questions[post] = Question(place, post, user, time, get("Score"), get("Title"), start, size)
        self._people.add(user)

    def _take_answer(self, post: int, row: Row) -> None:
        get, body = row.get, None
        question = int(row["ParentId"]) if "ParentId" in row else None
        user = float(row["OwnerUserId"]) if "OwnerUserId" in row else None
        if post in self.comments:
            talkers = {comment.user for comment in self.comments[post]} - {None}
            if user in talkers and len(talkers) > 1:
                body = get("Body", "")
                self._people |= talkers
        self.answers.append(Answer(len(self._seen), post, question, user, get("CreationDate"), get("Score"), body))

    def _take_users(self, rows: Sequence[Row]) -> None:
        for row in rows:
            user = float(row["Id"])
            if user in self._people and "DisplayName" in row:
                self.names.setdefault(user, row["DisplayName"])

    def _take_votes(self, rows: Sequence[Row]) -> None:
        for row in rows:
            if row.get("VoteTypeId") in _FLAGS:
                self.flagged.add(int(row["PostId"]))


def _check_numbers(file: str, rows: Sequence[Row]) -> None:
    """Raise NotMade for the first row with an id that is missing or no number."""
    for row in rows:
        for name in _NUMBERS[file]:
            if not _NUMBER.fullmatch(row.get(name, "0" if name in _OPTIONAL else "")):
                raise NotMade(
                    f"a row whose {name} is missing or no number; nothing was written",
                    where=file,
                    expected=f'{name}="1234"',
                    found=" ".join(f'{key}="{value:.30}"' for key, value in row.items())[:200],
                    next_step="download the dump again; if the file is so at its source, remove the row",
                )
