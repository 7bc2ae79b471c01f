"""The diagram of the tables, which Graphviz draws, has every table, key and reference that there is now.

``uv run pytest tests/talkhouse/report/test_er_diagram.py --regen`` draws it again; it needs Graphviz
(``apt install graphviz``, ``brew install graphviz``), which neither the report nor the other tests do.
"""

import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from xml.etree.ElementTree import Element, fromstring

import pytest
from sqlalchemy import ForeignKeyConstraint, Table

from talkhouse.dialogues.schemes import PLAIN as COLOURS
from talkhouse.report.write_report import TEMPLATES
from talkhouse.schema.tables import metadata, qualified

DIAGRAM = TEMPLATES / "er_diagram.svg"
"""The tables with their keys, as the report shows them, which needs no Graphviz."""

HUB = "main.corpora"
"""What nearly every table points at: no lines are drawn to it, since they would hide all others."""

PLAIN, SOFT = "#5b6472", "#808080"
"""Of the heads of tables without a line to them, and of the names of targets; the page has its own in their place."""

TABLES = {qualified(table): table for table in metadata.tables.values()}


def target(link: ForeignKeyConstraint) -> str:
    return qualified(link.elements[0].column.table)


def links(table: Table) -> list[ForeignKeyConstraint]:
    return sorted(table.foreign_key_constraints, key=lambda link: (len(link.column_keys), list(link.column_keys)))


def drawn(table: Table) -> Iterator[ForeignKeyConstraint]:
    """Yield the foreign keys that get a line: not those to HUB or to itself, nor those that a longer one implies."""
    others = [link for link in links(table) if target(link) != qualified(table)]
    for link in others:
        columns = set(link.column_keys)
        if target(link) != HUB and not any(columns < set(longer.column_keys) for longer in others):
            yield link


def key_columns(table: Table) -> dict[str, str]:
    """Return the columns of the grain and of foreign keys, each with the table that it points at, or nothing."""
    targets: dict[str, str] = {}
    for link in links(table):
        for name in link.column_keys:
            targets.setdefault(name, target(link))
    keys = {*table.info["grain"], *targets}
    return {column.name: targets.get(column.name, "") for column in table.columns if column.name in keys}


def written() -> str:
    """Write the tables in the language of Graphviz."""
    often = Counter(target(link) for table in TABLES.values() for link in drawn(table)).most_common()
    colours = {name: COLOURS[number % len(COLOURS)] for number, (name, _) in enumerate(often)}
    lines = [
        'digraph "Tables of a warehouse with their keys" {',
        'graph [rankdir=RL, ranksep=0.9, nodesep=0.25, bgcolor=transparent, fontname="Helvetica"]',
        'node [shape=plain, fontname="Helvetica", fontsize=12]',
        "edge [arrowhead=none, arrowtail=dot, arrowsize=0.5, dir=both, penwidth=1.4]",
    ]
    for name, table in TABLES.items():
        rows = [f'<tr><td colspan="2" bgcolor="{colours.get(name, PLAIN)}" port="head">{head(name)}</td></tr>']
        for column, to in key_columns(table).items():
            shown = f"<b>{column}</b>" if column in table.info["grain"] else column
            towards = f'<font color="{SOFT}">&#8594; {to.rpartition(".")[2]}</font>' if to else ""
            cells = f'<td align="left" sides="lb" port="{column}">{shown}</td>'
            rows.append(f'<tr>{cells}<td align="right" sides="rb">{towards}</td></tr>')
        form = 'border="0" cellborder="1" cellspacing="0" cellpadding="4"'
        lines.append(f'"{name}" [label=<<table {form}>{"".join(rows)}</table>>]')
    for name, table in TABLES.items():
        for link in drawn(table):
            ends = f'"{name}":{link.column_keys[-1]}:w -> "{target(link)}":head:e'
            lines.append(f'{ends} [color="{colours[target(link)]}"]')
    # What points at nothing and has no line to it is put in the column of what points at nothing, too.
    alone = [name for name, table in TABLES.items() if name not in colours and not list(drawn(table))]
    lines += [f'"main.records" -> "{name}" [style=invis]' for name in alone]
    return "\n".join([*lines, "}"])


def head(name: str) -> str:
    return f'<font color="white"><b>{name.removeprefix("main.")}</b></font>'


def draw() -> str:
    """Return the drawing by Graphviz, to stand in a page: without its preamble, and as wide as the page has room."""
    svg = subprocess.run(["dot", "-Tsvg"], input=written(), capture_output=True, text=True, check=True).stdout
    svg = re.sub(r"<!--.*?-->\n", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    size = re.compile(r'<svg width="[^"]*" height="[^"]*"\s+viewBox=("[^"]*")[^>]*>')
    return size.sub(
        r'<svg class="er" viewBox=\1 role="img" aria-label="Tables of a warehouse with their keys">', svg, 1
    )


@pytest.fixture(scope="module")
def groups(regen: bool) -> dict[str, list[Element]]:
    """What the drawing has of each kind, node and edge."""
    if regen:
        DIAGRAM.write_text(draw(), encoding="utf-8")
    found: dict[str, list[Element]] = {"node": [], "edge": []}
    for group in fromstring(DIAGRAM.read_text(encoding="utf-8")).iter("g"):  # noqa: S314 - it is ours
        found.setdefault(group.get("class", ""), []).append(group)
    return found


def title(group: Element) -> str:
    return group.findtext("title", "")


def test_every_table_key_and_target_is_there(groups: dict[str, list[Element]]) -> None:
    assert {title(node) for node in groups["node"]} == TABLES.keys()
    for node in groups["node"]:
        table, (name, *texts) = TABLES[title(node)], list(node.iter("text"))
        assert name.text == title(node).removeprefix("main.")
        rows = [(text.text, text.get("font-weight") == "bold") for text in texts]
        expected = []
        for column, to in key_columns(table).items():
            expected.append((column, column in table.info["grain"]))
            expected += [(f"\N{RIGHTWARDS ARROW} {to.rpartition('.')[2]}", False)] if to else []
        assert rows == expected, title(node)


def test_every_reference_has_a_line_but_those_that_are_said_to_have_none(groups: dict[str, list[Element]]) -> None:
    expected = Counter((name, target(link)) for name, table in TABLES.items() for link in drawn(table))
    lines = Counter(tuple(re.sub(r":[^-]*", "", title(edge)).split("->")) for edge in groups["edge"])
    assert lines == expected
    declared = {(name, target(link)) for name, table in TABLES.items() for link in table.foreign_key_constraints}
    for table, to in declared - lines.keys():
        implied = any((table, between) in lines and (between, to) in declared for between, _ in declared)
        assert to in (HUB, table) or implied, (table, to)


def test_the_page_may_show_it() -> None:
    """The page's policy runs no styles but its own, and nothing from elsewhere."""
    text = DIAGRAM.read_text(encoding="utf-8")
    assert " style=" not in text
    assert "href" not in text
    assert "<script" not in text
