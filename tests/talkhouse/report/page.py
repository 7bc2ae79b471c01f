"""A report, read as a browser reads it."""

import re
from html.parser import HTMLParser
from pathlib import Path

_EMPTY = {"meta", "link", "img", "br", "hr", "input"}
_MORE = ", continued"


class Page(HTMLParser):
    """The elements of a page with their attributes and texts."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.source = path.read_text(encoding="utf-8")
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: dict[str, list[str]] = {}
        """Tag -> the texts of its elements, in order."""
        self.tables: dict[str, list[list[str]]] = {}
        """Name of a table -> the texts of its rows, the titles first."""
        self._open: list[tuple[str, list[str]]] = []
        self._table: list[list[str]] = []
        self.feed(self.source)
        self.close()
        assert not self._open
        self.continued = [name.removesuffix(_MORE) for name in self.tables if name.endswith(_MORE)]
        """The tables of which one asks for the last rows."""
        for name in self.continued:
            first, *rows = self.tables.pop(name + _MORE)
            assert first == self.tables[name][0]
            self.tables[name] += rows

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the start of an element."""
        found = {name: value or "" for name, value in attrs}
        self.elements.append((tag, found))
        if tag == "table":
            self._table = self.tables.setdefault(found["aria-label"], [])
        if tag == "tr":
            self._table.append([])
        if tag not in _EMPTY:
            self._open.append((tag, []))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take an element that is closed at once."""
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        """Take a text."""
        for _, parts in self._open:
            parts.append(data)

    def handle_endtag(self, tag: str) -> None:
        """Take the end of an element."""
        opened, parts = self._open.pop()
        assert opened == tag, f"<{opened}> is closed by </{tag}>"
        text = "".join(parts).strip()
        self.texts.setdefault(tag, []).append(text)
        if tag in ("td", "th"):
            self._table[-1].append(text)

    @property
    def drawings(self) -> dict[str, str]:
        """The SVG of each figure that is drawn, by the id of the figure."""
        found = re.findall(r'<figure id="([^"]*)">\s*(<svg .*?</svg>)', self.source, re.DOTALL)
        assert len(found) == self.source.count("<figure ")
        return dict(found)

    def attributes(self, tag: str, name: str) -> list[str]:
        """List the values of an attribute of all elements with a tag."""
        return [found[name] for kind, found in self.elements if kind == tag and name in found]
