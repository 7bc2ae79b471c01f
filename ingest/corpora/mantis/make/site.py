"""What is kept of a site's dump while it is read: answers that two people may have talked about, and who wrote what."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import IO, NamedTuple, NoReturn
from xml.etree.ElementTree import ParseError, XMLParser

from talkhouse.ingest.corpus import NotMade

Row = dict[str, str]

_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?+\s*+(?><\?xml.*?\?>\s*)?+(?><!--.*?-->\s*)*+<([A-Za-z]+)\s*+(/?)>", re.DOTALL)
"""Takes each comment as it ends first, so that no more time is taken than the text is long."""
_LONGEST_HEAD = 1_000_000
"""Bytes before the first row, far more than a dump has."""
_REFERENCE = re.compile(rb"&#(?:x([0-9A-Fa-f]{1,6})|([0-9]{1,7})|x?[0-9A-Fa-f]+);")
_END = b"/>"
_LONGEST = 8_000_000
"""Bytes without the end of a row after which a file is no dump; a post has 30,000 characters at most."""
_MOST_OPEN = 1_000
"""Signs ``<`` that no element of its own ends, such as those of comments: a parser keeps all elements that are open."""

INVALID = "invalid_references"
"""The kind of finding that this module reports."""

Report = Callable[[str, str], None]
"""Takes the kind of a finding and where it is."""


class _Rows:
    """What a parser calls for each element."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def start(self, tag: str, attributes: Row) -> None:
        if tag == "row":
            self.rows.append(attributes)

    def close(self) -> None:
        pass


class XmlRows:
    """Parses a file piece by piece, and passes its rows on, many at a time."""

    def __init__(self, where: str, root: str, take: Callable[[list[Row]], None], report: Report) -> None:
        """``where`` names the file in messages; ``root``: its root element, such as ``posts``."""
        self._where, self._root, self._take, self._report = where, root, take, report
        self._rest = bytearray()
        self._is_begun = self._is_empty = False
        self._lines = 0
        self._counted = 0, 0
        """Rows up to the reference that was mended last, and where that is in its block."""
        self.rows = 0
        """Rows so far."""

    def feed(self, piece: bytes) -> None:
        """Parse the next bytes; raises NotMade where they are not a dump's."""
        self._rest += piece
        if not self._is_begun and not self._begin():
            return
        end = self._rest.rfind(_END) + len(_END)
        if end >= len(_END):
            block = bytes(memoryview(self._rest)[:end])
            del self._rest[:end]
            self._parse(block)
        elif len(self._rest) > _LONGEST:
            self._stop("the file has no rows", f"{len(self._rest):,} bytes without '/>'")

    def close(self) -> None:
        """Parse the end; raises NotMade for a file that ends in the middle."""
        if not self._is_begun:
            self._stop("the file is not a file of a dump", f"no <{self._root}> at its beginning")
        rest = bytes(self._rest).strip()
        if rest != (b"" if self._is_empty else f"</{self._root}>".encode()):
            self._lines += self._rest.count(b"\n")
            found = f"after row {self.rows:,}: {rest[:60].decode(errors='replace')!r}" if rest else "its end"
            self._stop("the file ends in the middle, or something else follows its rows", found)

    def _begin(self) -> bool:
        """Drop what stands before the rows; False while it is not all there."""
        head = _HEAD.match(self._rest)
        if head is None and len(self._rest) < _LONGEST_HEAD:
            return False
        root = head[1].decode() if head else ""
        if head is None or root != self._root:
            self._stop("the file is not a file of a dump", f"<{root}>")
        self._is_begun, self._is_empty = True, bool(head[2])
        self._lines += head[0].count(b"\n")
        del self._rest[: head.end()]
        return True

    def _parse(self, block: bytes) -> None:
        """Hand on the rows of a block of whole rows."""
        if block.count(b"<") > block.count(_END) + _MOST_OPEN:
            self._stop("the file has elements in others", f"more than {_MOST_OPEN:,} that no '/>' ends")
        try:
            rows = _parsed(block)
        except ParseError:
            self._counted = self.rows, 0
            mended = _REFERENCE.sub(self._mend, block)
            try:
                rows = _parsed(mended)
            except ParseError as error:
                self._malformed(mended, error)
        self.rows += len(rows)
        self._lines += block.count(b"\n")
        self._take(rows)

    def _mend(self, reference: re.Match[bytes]) -> bytes:
        hexadecimal, decimal = reference.groups()
        if (hexadecimal or decimal) and _is_character(int(hexadecimal or decimal, 16 if hexadecimal else 10)):
            return reference[0]
        row, end = self._counted
        row += reference.string.count(b"<row", end, reference.start())
        self._counted = row, reference.start()
        self._report(INVALID, f"{self._where}, row {row:,}: {reference[0].decode()}")
        return b"&#xFFFD;"

    def _malformed(self, block: bytes, error: ParseError) -> None:
        line, column = error.position
        self._lines += line - 1
        text = block.split(b"\n")[line - 1]
        at = column - (len(_OPEN) if line == 1 else 0)
        excerpt = text[max(0, at - 30) : at + 30].decode(errors="replace")
        self._stop("the XML is malformed", f"{error.msg.partition(':')[0]}, near {excerpt!r}")

    def _stop(self, problem: str, found: str) -> NoReturn:
        raise NotMade(
            f"{problem}; nothing was written",
            where=f"{self._where}, line {self._lines + 1:,}",
            expected=f"<{self._root}>, one <row .../> a line, </{self._root}>",
            found=found,
            next_step="unpack or download the dump again, and compare its size with that where it is from",
        )


_OPEN = b"<rows>"


def _parsed(block: bytes) -> list[Row]:
    """Parse whole rows. Raises ParseError."""
    target = _Rows()
    # Inside of an element no DOCTYPE can follow, so nothing is expanded.
    parser = XMLParser(target=target)  # noqa: S314
    for part in (_OPEN, block, b"</rows>"):
        parser.feed(part)
    parser.close()
    return target.rows


def _is_character(code: int) -> bool:
    """Whether XML 1.0 has a character (https://www.w3.org/TR/xml/#charsets)."""
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF


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
class PostedAnswer:
    """An answer; ``body`` is None if its people can't have had a dialogue."""

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
    answers: list[PostedAnswer] = field(default_factory=list)
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
        """Return the handler of a file's rows."""
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
        self.answers.append(
            PostedAnswer(len(self._seen), post, question, user, get("CreationDate"), get("Score"), body)
        )

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
