"""The rows of a dump's XML file as dictionaries, block by block; what XML does not allow is mended or named.

A row is one empty element with attributes only. Some dumps refer to characters that XML 1.0 does not have, such as
``&#x0E;``, at which every checking parser stops: such a reference becomes U+FFFD, and its row is reported.
"""

import re
from collections.abc import Callable
from typing import NoReturn
from xml.etree.ElementTree import ParseError, XMLParser

from talkhouse.ingest.making import NotMade

Row = dict[str, str]

_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?+\s*+(?><\?xml.*?\?>\s*)?+(?><!--.*?-->\s*)*+<([A-Za-z]+)\s*+(/?)>", re.DOTALL)
"""Takes each comment as it ends first, so that no more time is taken than the text is long."""
_LONGEST_HEAD = 1_000_000
"""Bytes before the first row, far more than a dump has."""
_REFERENCE = re.compile(rb"&#(?:x([0-9A-Fa-f]{1,6})|([0-9]{1,7})|x?[0-9A-Fa-f]+);")
_END = b"/>"
_LONGEST = 64_000_000
"""Bytes without the end of a row after which a file is no dump; a post has 30,000 characters at most."""

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
    """Takes a file piece by piece and hands on its rows, many at a time."""

    def __init__(self, where: str, root: str, take: Callable[[list[Row]], None], report: Report) -> None:
        """``where`` names the file in messages; ``root``: its root element, such as ``posts``."""
        self._where, self._root, self._take, self._report = where, root, take, report
        self._rest = bytearray()
        self._is_begun = self._is_empty = False
        self._lines = 0
        self.rows = 0
        """Rows so far."""

    def feed(self, piece: bytes) -> None:
        """Take the next bytes; raises NotMade where they are not a dump's."""
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
        """Take the end; raises NotMade for a file that ends in the middle."""
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
        try:
            rows = _parsed(block)
        except ParseError:
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
        row = self.rows + reference.string.count(b"<row", 0, reference.start())
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
