"""A warehouse in which every text means something to what shows, writes or matches it."""

import shutil
from pathlib import Path

import duckdb

from talkhouse.escaping import visible
from talkhouse.schema.sql import literal, quoted
from talkhouse.schema.tables import metadata
from tests.data_files import data_of

OUTSIDE = "http://outside.example"

TEXTS = [
    f"""<img id="acted" src="{OUTSIDE}/a.png" onerror="window.acted = 1">""",
    """<script id="acted">window.acted = 1</script><b id="acted">bold</b>""",
    f"""![a]({OUTSIDE}/b.png) [b](javascript:window.acted=1) [zlink]({OUTSIDE}) **zbold** {OUTSIDE}/auto # e""",
    """$\\frac{zmath}{2}$ :material/skull: :red[zred] :smile: `zcode` <style>body { display: none }</style>""",
    "\u05e9\u05dc\u05d5\u05dd \u202e\u0645\u0631\u062d\u0628\u0627\u202c \u65e5\u672c\u8a9e",
    "\U0001f469\u200d\U0001f680 a\0b \u2028c\u2029d",
    "{slot} {{slot}} {0} %s %(a)s %d ${x} $x \\1 \\g<0> \\ :name {{ 7 * 7 }} {% x %} [red]r[/] [/] #{d} datum['a']",
]
"""Texts that mean something to HTML, Markdown, Streamlit, Vega, templates, formats and patterns; and other scripts."""

_TEXTS = data_of(__file__)["texts"]
_NAMES = ("release", "split", "subset", "label", "rule", "dialogue_id", "record_id", "source_file_id", "language")
"""Columns whose values are names: half of them are changed, alike in every table."""

CORPUS = "tea"
NAMES = ["a.b[0]", "*", "^.*$", "it's :red[zred]", 'say "so"', "back\\slash", "$zmath$"]
"""Of columns, and of metrics."""


def make_hostile(path: Path, sample: Path) -> None:
    """Make such a warehouse of the samples, with one corpus more that has charts and views of its own."""
    shutil.copyfile(sample, path)
    with duckdb.connect(path) as con:
        for table, columns in _TEXTS.items():
            for column in columns:
                con.execute(f"update {table} set {column} = {column} || {_one_of('rowid')}")
        tables = [
            (table.schema or "main", table.name, {column.name for column in table.columns})
            for table in metadata.sorted_tables
        ]
        for name in _NAMES:
            for schema, table, columns in tables:
                if name in columns:
                    changed = f"{name} || ' ' || {_one_of(f'hash({name}) // 2')}"
                    con.execute(f"update {schema}.{table} set {name} = {changed} where hash({name}) % 2 = 0")
        address = literal(f"{OUTSIDE}/home>) ![a]({OUTSIDE}/i.png) :red[zred]")
        con.execute(f"update corpora set homepage = {address}, licence_url = 'javascript:window.acted=1'")
        own = {"corpus_id": literal(CORPUS), "title": "title || ' tea'"}
        row = ", ".join(own.get(column.name, column.name) for column in metadata.tables["corpora"].columns)
        con.execute(f"insert into corpora select {row} from corpora limit 1")
        columns = ", ".join(
            f"{place} as {quoted(name)}" if place % 2 else f"{_one_of('i')} || i % 3 as {quoted(name)}"
            for place, name in enumerate(NAMES)
        )
        con.execute(f"create view bi.{CORPUS}_cups as select {columns} from range(20) as r(i)")
        con.execute(f"comment on view bi.{CORPUS}_cups is {literal(TEXTS[3].replace(chr(0), ''))}")
        for name, text in (("metrics.toml", _METRICS), (f"dashboards/{CORPUS}.toml", _DASHBOARD)):
            con.execute("insert into meta.query_files values (?, ?, ?)", [CORPUS, f"bi/{name}", text])


def _one_of(number: str) -> str:
    texts = ", ".join(literal(text).replace("\0", "' || chr(0) || '") for text in TEXTS)
    return f"list_extract([{texts}], 1 + (({number}) % {len(TEXTS)})::integer)"


def _toml(text: str) -> str:
    escaped = (f"\\u{ord(sign):04x}" if sign in '"\\\x00\u2028\u2029\u202e\u202c' else sign for sign in text)
    return f'"{"".join(escaped)}"'


def _headline(text: str) -> str:
    sentence, sql = text.replace("{", "{{").replace("}", "}}") + "{said}", f"select {literal(visible(text))} as said"
    link = f"read?a=>)![a]({OUTSIDE}/h.png)"
    return f"[[headlines]]\nsentence = {_toml(sentence)}\nsql = {_toml(sql)}\nlink = {_toml(link)}\n"


def _chart(place: int, kind: str) -> str:
    x, by = (_toml(NAMES[(place // 2 * 2 + more) % (len(NAMES) + 1)]) for more in (0, 2))
    parts = {"number": "", "table": f"by = [{x}, {by}]"}.get(kind, f"x = {x}\nby = [{by}]")
    title, metric = _toml(kind + TEXTS[place]), _toml(f"{NAMES[place]}!")
    return (
        f"[[charts]]\ntitle = {title}\ndescription = {_toml(TEXTS[place])}\nkind = '{kind}'\n"
        f"view = '{CORPUS}_cups'\nmetrics = [{metric}]\n{parts}\n"
    )


_PLACES = range(len(TEXTS))
_METRICS = "".join(
    f"[{CORPUS}_cups.{_toml(f'{name}!')}]\ntitle = {_toml(title)}\nsql = 'count(*)'\ndescription = {_toml(title)}\n"
    for name, title in zip(NAMES, TEXTS, strict=True)
)
_FILTERS = "".join(
    f"[[filters]]\ntitle = {_toml(TEXTS[place])}\ncolumn = {_toml(NAMES[place])}\nview = '{CORPUS}_cups'\n"
    for place in _PLACES[::2]
)
_CHARTS = "".join(_chart(place, kind) for place in _PLACES for kind in ("number", "table", "bar", "line", "heatmap"))
_DASHBOARD = (
    f"title = {_toml(TEXTS[3])}\ndescription = {_toml(TEXTS[2])}\n{''.join(map(_headline, TEXTS))}{_FILTERS}{_CHARTS}"
)
