"""What is kept of a site's dump while it is read: answers that two people may have talked about, and who wrote what.

A dialogue needs a comment of the asker and one of the answerer, so of all other answers only the numbers of the people
are kept, and of questions only where their text lies in a temporary file.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import IO, NamedTuple

from talkhouse.ingest.corpora.mantis.make.xml_rows import Report, Row
from talkhouse.ingest.making import NotMade

QUESTION, ANSWER = "1", "2"
_FLAGS = ("4", "12")
"""Votes that a post is offensive, or spam."""

LAST = "\uffff"
"""Sorts after every time: a comment, or its time, that is missing."""

REPEATED = "repeated_posts"
EMPTY = "empty_comments"
"""Kinds of findings."""


class Comment(NamedTuple):
    """A comment; of one that can't be in a dialogue, ``text`` is empty."""

    time: str | None
    user: float | None
    """None: the account is gone."""
    id: float
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
    comments: dict[int, list[Comment]] = field(default_factory=dict)
    questions: dict[int, Question] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)
    names: dict[float, str] = field(default_factory=dict)
    flagged: set[int] = field(default_factory=set)
    without_owner: set[int] = field(default_factory=set)
    """Questions of people whose account is gone."""
    licences: Counter[str] = field(default_factory=Counter)
    """Posts by their licence, where a dump says it."""
    _seen: set[int] = field(default_factory=set)
    _people: set[float] = field(default_factory=set)

    def take(self, part: str) -> Callable[[Sequence[Row]], None]:
        """Return what takes the rows of a file."""
        return {
            "Comments.xml": self._take_comments,
            "Posts.xml": self._take_posts,
            "Users.xml": self._take_users,
            "Votes.xml": self._take_votes,
        }[part]

    def text(self, question: Question) -> str:
        """Read the text of a question."""
        self.texts.seek(question.start)
        return self.texts.read(question.size).decode()

    def _take_comments(self, rows: Sequence[Row]) -> None:
        comments = self.comments
        for row in rows:
            get = row.get
            user = get("UserId")
            if user is None:
                comment = Comment(get("CreationDate"), None, 0.0, None, "")
            else:
                text = get("Text", "")
                if not text:
                    self.report(EMPTY, f"Comments.xml, comment {get('Id')}")
                number = number_of(row, "Id", "comment")
                comment = Comment(get("CreationDate"), number_of(row, "UserId", "comment"), number, get("Score"), text)
            comments.setdefault(int(number_of(row, "PostId", "comment")), []).append(comment)

    def _take_posts(self, rows: Sequence[Row]) -> None:
        for row in rows:
            kind = row.get("PostTypeId")
            post = int(number_of(row, "Id", "post"))
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
        get, user = row.get, number_of(row, "OwnerUserId", "post")
        start, size = self.texts.tell(), self.texts.write(get("Body", "").encode())
        place, time = len(self._seen), get("CreationDate")
        self.questions[post] = Question(place, post, user, time, get("Score"), get("Title"), start, size)
        self._people.add(user)

    def _take_answer(self, post: int, row: Row) -> None:
        get = row.get
        question = int(number_of(row, "ParentId", "post")) if "ParentId" in row else None
        user = number_of(row, "OwnerUserId", "post") if "OwnerUserId" in row else None
        talkers = {comment.user for comment in self.comments.get(post, ()) if comment.user is not None}
        can_be = user in talkers and len(talkers) > 1
        body = get("Body", "") if can_be else None
        self.answers.append(Answer(len(self._seen), post, question, user, get("CreationDate"), get("Score"), body))
        if can_be:
            self._people |= talkers
        else:
            self._drop_texts(post)

    def _drop_texts(self, post: int) -> None:
        """Forget the texts of comments that can't be in a dialogue."""
        if post in self.comments:
            self.comments[post] = [
                Comment(comment.time, comment.user, 0.0, None, "") for comment in self.comments[post]
            ]

    def _take_users(self, rows: Sequence[Row]) -> None:
        for row in rows:
            user = number_of(row, "Id", "user")
            if user in self._people and "DisplayName" in row:
                self.names.setdefault(user, row["DisplayName"])

    def _take_votes(self, rows: Sequence[Row]) -> None:
        for row in rows:
            if row.get("VoteTypeId") in _FLAGS:
                self.flagged.add(int(number_of(row, "PostId", "vote")))


def number_of(row: Row, name: str, kind: str) -> float:
    """Return an attribute as a number, which is how the authors' code compares people. Raises NotMade."""
    try:
        return float(row[name])
    except (KeyError, ValueError):
        raise NotMade(
            f"a {kind} without a number as its {name}; nothing was written",
            where=f"{kind.capitalize()}s.xml",
            expected=f'{name}="1234"',
            found=" ".join(f'{key}="{value:.30}"' for key, value in row.items())[:200],
            next_step="download the dump again; if the file is so at its source, remove the row",
        ) from None
