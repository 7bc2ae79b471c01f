"""Charts of one's own chats over time: each number as plain Python has it from the file, and which are drawn."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path, PurePosixPath
from random import Random
from typing import Any
from zipfile import ZipFile

import duckdb
import pytest
import yaml

import talkhouse
from talkhouse.charts.declarations import dashboards, metrics
from talkhouse.charts.declared import Chart
from talkhouse.charts.fields import frame
from talkhouse.charts.query import chart_sql, worth_drawing
from talkhouse.dashboard.reading.selection import ConversationSelection
from talkhouse.ingest.progress import Silent
from talkhouse.load.run import build
from talkhouse.schema.errors import CatalogueError
from talkhouse.search.ranked import rank
from talkhouse.search.search_index import INDEX, make_index
from talkhouse.search.text_groups import TextSearch
from talkhouse.superset.bundle import write_bundle
from talkhouse.warehouse.opened import Warehouse
from tests.data_files import data_of
from tests.talkhouse.dashboard.conftest import Visit
from tests.talkhouse.dashboard.conftest import visit as visit  # the fixture

DATA = data_of(__file__)
WORDS = ("kettle", "spoon", "parcel", "late", "thanks")


def invented() -> Iterator[dict[str, Any]]:
    """Yield chats of six weeks by a dozen customers and three clerks, in the order of no time."""
    chance = Random(3)  # noqa: S311 - the same chats each time
    for number in range(90):
        at = datetime.fromisoformat("2026-01-05T08:00") + timedelta(
            days=chance.randrange(42), minutes=chance.randrange(900)
        )
        messages = []
        for place in range(chance.randrange(1, 6)):
            clerk = place % 2 == 1
            name = f"clerk {chance.randrange(3)}" if clerk else f"customer {number % 12 if number < 80 else number}"
            text = " ".join(chance.choices(WORDS, k=chance.randrange(1, 9)))
            messages.append({"from": "clerk" if clerk else "customer", "name": name, "at": f"{at:%FT%T}", "text": text})
            at += timedelta(minutes=chance.randrange(1, 40))
        yield {
            "chat": f"c{number}",
            "opened_at": messages[0]["at"],
            "channel": chance.choice(("web", "app")),
            "language": "en",
            "stars": chance.choice((None, 1, 2, 3, 4, 5)),
            "messages": messages,
        }


CHATS = list(invented())


def opened_at(chat: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(chat["opened_at"])


def week(time: datetime) -> date:
    return (time - timedelta(days=time.weekday())).date()


def write(data: Path, text: str) -> Path:
    """Write the chats, and a corpus of the same form whose only chat has no time."""
    for name, chats in (("shop", CHATS), ("quiet", [{"chat": "q", "messages": [{"text": "Hm.", "from": "clerk"}]}])):
        (data / name).mkdir(parents=True)
        (data / name / "corpus.toml").write_text(text if name == "shop" else DATA["declaration"], encoding="utf-8")
        (data / name / "chats.jsonl").write_text("".join(json.dumps(chat) + "\n" for chat in chats), encoding="utf-8")
    return data


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    build(folder / "w.duckdb", Silent(), data=write(folder / "data", DATA["declaration"] + DATA["own_chart"]))
    return folder / "w.duckdb"


@pytest.fixture
def opened(shop: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with talkhouse.open(shop) as con:
        yield con


def drawn(con: duckdb.DuckDBPyConnection, corpus_id: str) -> dict[str, Chart]:
    (board,) = [file.dashboard for file in dashboards(Warehouse(con).query_files) if file.folder == corpus_id]
    return {chart.title: chart for chart in worth_drawing(partial(frame, con), board.charts)}


def rows(con: duckdb.DuckDBPyConnection, chart: Chart) -> dict[Any, Any]:
    """Return the number of each mark by its columns, days in place of times."""
    every = frame(con, chart_sql(chart, metrics(Warehouse(con).query_files)[chart.view])).rows()
    keys = len(chart.columns)
    found = {tuple(v.date() if isinstance(v, datetime) else v for v in row[:keys]): row[keys] for row in every}
    return {key[0] if keys == 1 else key: value for key, value in found.items()}


def test_each_number_over_time_is_that_of_the_file(opened: duckdb.DuckDBPyConnection) -> None:
    charts = drawn(opened, "shop")
    times = [opened_at(chat) for chat in CHATS]
    spoken = [(chat, message) for chat in CHATS for message in chat["messages"]]
    first: dict[str, date] = {}
    for chat, message in spoken:
        first[message["name"]] = min(week(opened_at(chat)), first.get(message["name"], date.max))
    who, lengths, words = defaultdict(set), defaultdict(list), defaultdict(list)
    for chat, message in spoken:
        here, name = week(opened_at(chat)), message["name"]
        who[here, "new" if first[name] == here else "returning"].add(name)
        words[week(datetime.fromisoformat(message["at"]))].append(len(message["text"].split()))
    for chat in CHATS:
        lengths[week(opened_at(chat))].append(len(chat["messages"]))
    expected = {
        "Dialogues a week": Counter(map(week, times)),
        "Dialogues a week by domain": Counter((week(opened_at(chat)), chat["channel"]) for chat in CHATS),
        "Dialogues a week by label: stars": Counter(
            (week(opened_at(chat)), str(chat["stars"])) for chat in CHATS if chat["stars"]
        ),
        "Hours of the week": Counter((time.hour, time.isoweekday()) for time in times),
        "New and returning speakers a week": {key: len(names) for key, names in who.items()},
        "Turns per dialogue a week": {key: sum(counts) / len(counts) for key, counts in lengths.items()},
        "Words per message a week": {key: sum(counts) / len(counts) for key, counts in words.items()},
        "Dialogues by domain": Counter(chat["channel"] for chat in CHATS),
        "The 20 busiest speakers": dict(Counter(message["name"] for _, message in spoken).most_common(20)),
        "Labels of stars": Counter(str(chat["stars"]) for chat in CHATS if chat["stars"]),
        "Long chats": Counter(opened_at(chat).isoweekday() for chat in CHATS if len(chat["messages"]) > 2),
    }
    for title, numbers in expected.items():
        found = rows(opened, charts[title])
        assert title == "The 20 busiest speakers" or found.keys() == numbers.keys(), title
        # Of speakers with as many turns, others may be among the first.
        assert sorted(found.values()) == pytest.approx(sorted(numbers.values())), title
        assert {k: v for k, v in found.items() if k in numbers} == pytest.approx(
            {k: v for k, v in numbers.items() if k in found}
        ), title
    assert list(rows(opened, charts["Labels of stars"])) == ["1", "2", "3", "4", "5"]


def test_a_chart_is_drawn_where_its_columns_have_values(opened: duckdb.DuckDBPyConnection) -> None:
    titles, others = drawn(opened, "shop"), drawn(opened, "quiet")
    assert "Dialogues by language" not in titles, "one language"
    assert not [title for title in titles if " a day" in title or " a month" in title]
    assert [title for title in others if "domain" in title or "speakers" in title or " a " in title] == []
    assert others["Turns by role"].by == (), "a corpus without splits has none"


@pytest.mark.parametrize(
    ("place", "mistake", "found"),
    [pytest.param(*case, marks=() if at < 2 else pytest.mark.slow) for at, case in enumerate(DATA["mistakes"])],
)
def test_a_wrong_chart_of_ones_own_stops_the_build_with_its_line(
    tmp_path: Path, place: str, mistake: str, found: str
) -> None:
    text = DATA["declaration"] + DATA["own_chart"].replace(place, mistake)
    line = next(
        number for number, line in enumerate(text.splitlines(), 1) if line.startswith("title = ") and number > 9
    )
    with pytest.raises(CatalogueError, match=rf"shop/corpus\.toml:{line}: ") as raised:
        build(tmp_path / "w.duckdb", Silent(), data=write(tmp_path / "data", text))
    assert found in str(raised.value)
    assert not (tmp_path / "w.duckdb").exists()


def test_dialogues_are_chosen_by_the_days_on_which_they_begin(shop: Path, visit: Visit) -> None:
    days = {"since": "2026-01-14", "until": "2026-01-20"}
    chosen = [chat for chat in CHATS if days["since"] <= chat["opened_at"][:10] <= days["until"]]
    assert 0 < len(chosen) < len(CHATS)
    selection = ConversationSelection({}, days=days)
    with talkhouse.open(shop) as con:
        counts = con.execute(selection.counts(), selection.values).fetchall()
        assert (None, None, len(chosen)) in counts
        written = con.execute(f"select count(*) from main.dialogues where {selection.condition()}").fetchall()
        assert written == [(len(chosen),)]
    make_index(shop, lambda _: None)
    dialogues = [f"shop:{chat['chat']}" for chat in chosen]
    with talkhouse.open(shop) as con, INDEX.open(INDEX.path(shop)) as index:
        matches = rank(TextSearch(con, index, {}, dialogues=dialogues), "kettle")
    having = [message for chat in chosen for message in chat["messages"] if "kettle" in message["text"].split()]
    assert matches.texts == len(having)
    page = visit(shop, "read", **days)
    assert any(f"**{len(chosen)}** dialogues" in markdown.value for markdown in page.markdown)
    assert [str(field.value) for field in page.date_input] == [*days.values()]
    assert not visit(shop, "read", corpus="quiet").date_input
    assert not visit(shop, "read", since="soon").exception


def test_ask_offers_times_and_a_grid(shop: Path, visit: Visit) -> None:
    asked = {"show": "Record dialogues: Dialogues", "over": "Started at: week"}
    assert visit(shop, "ask", **asked).header[0].value == "Dialogues over week"
    grid = visit(shop, "ask", show=asked["show"], by="Weekday", over="Hour of day", **{"as": "Heat map"})
    assert not grid.exception
    assert "hour_of_day" in grid.code[0].value


@pytest.mark.slow
def test_superset_gets_the_charts_that_are_drawn(opened: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    write_bundle(opened, tmp_path / "w.zip", PurePosixPath("/srv/w.duckdb"))
    with ZipFile(tmp_path / "w.zip") as archive:
        names = [name for name in archive.namelist() if "/charts/shop_" in name]
        charts = {chart["slice_name"]: chart for chart in (yaml.safe_load(archive.read(name)) for name in names)}
    assert charts.keys() == drawn(opened, "shop").keys()
    (axis,) = json.loads(charts["Long chats"]["query_context"])["queries"][0]["columns"]
    assert axis["sqlExpression"] == 'isodow("started_at")'
