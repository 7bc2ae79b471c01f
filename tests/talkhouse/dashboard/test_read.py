"""The page Read: facets, search, one conversation and its source, on samples, odd texts and half a warehouse."""

import csv
import json
import math
import re
import shutil
from collections import defaultdict
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import duckdb
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Checkbox

from talkhouse import migrations
from talkhouse.dashboard.links import SCRIPT
from talkhouse.dashboard.reading.selection import FACETS, MIXED, ORDERS, ConversationSelection
from talkhouse.dashboard.reading.talk import DialogueReading, speaker_looks, talk_html
from talkhouse.dialogues.dialogue import show
from talkhouse.dialogues.schemes import label_colours
from talkhouse.escaping import visible
from talkhouse.ingest.progress import Silent
from talkhouse.ingest.registry import corpora, sample_of
from talkhouse.load.run import build
from talkhouse.queries.catalogue import catalogue
from talkhouse.queries.views import create_views
from talkhouse.restore.raw_record import raw
from talkhouse.search.containing import Pattern, search
from tests.data_files import data_of
from tests.lanes import first_quick
from tests.samples import GROUPS, RELEASES
from tests.talkhouse.dashboard.pages import words

DATA = data_of(__file__)

Read = Callable[..., AppTest]
Connection = duckdb.DuckDBPyConnection

CIC = f"{RELEASES}:CIC9001"
"""A conversation whose labels differ between releases."""
BROKEN = f"{RELEASES}.breakdown=X"
OUTCOME = f"{GROUPS}.outcome="


def script() -> None:
    import streamlit as st

    from talkhouse.dashboard import errors
    from talkhouse.dashboard.content import read

    page = st.navigation([st.Page(read.page, url_path="read", default=True)])
    with errors.shown():
        page.run()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Read:
    """Open the page with parameters of the URL on a warehouse."""

    def opened(warehouse: Path, **parameters: str | list[str]) -> AppTest:
        monkeypatch.setenv("TALKHOUSE_DB", str(warehouse))
        test = AppTest.from_function(script, default_timeout=120)
        for name, value in parameters.items():
            test.query_params[name] = value
        test.run()
        assert not test.exception
        return test

    return opened


def links(page: AppTest) -> dict[str, dict[str, list[str]]]:
    """The links of a page by their labels, each with the parameters that it leads to."""
    found = [element.proto for element in page.get("page_link")]
    return {re.sub(r"\\(.)", r"\1", link.label): parse_qs(link.query_string) for link in found if not link.disabled}


def html(page: AppTest) -> str:
    """Everything of a page that is HTML, without the style sheet."""
    bodies = [element.proto.body for element in page.get("html")]
    return "\n".join(body for body in bodies if not body.startswith("<style>"))


def choices(page: AppTest) -> dict[str, Checkbox]:
    """The values of the facets, by their labels."""
    boxes = [box for box in page.checkbox if box.key and "=" in box.key]
    return {re.sub(r"\\(.)", r"\1", box.label): box for box in boxes}


def conversations(page: AppTest) -> list[str]:
    """The dialogues that a list shows."""
    return [query["dialogue"][0] for query in links(page).values() if "dialogue" in query]


def messages(page: AppTest) -> str:
    return "\n".join(element.value for kind in (page.error, page.code, page.info) for element in kind)


# Facets


def attributes(con: Connection) -> dict[str, dict[str, list[dict[str, str | None]]]]:
    """Return of each dialogue its rows, each with the facets that must hold together; the slow and obvious way."""
    queries = (
        "select dialogue_id, corpus_id as corpus, language from main.dialogues",
        "select dialogue_id, release, split from main.records where dialogue_id is not null",
        "select dialogue_id, role, text, "
        "if(is_anonymous, null, coalesce(speakers.name, speakers.native_id)) as speaker "
        "from main.turns left join main.speakers using (speaker_id)",
        "select dialogue_id, scheme || '=' || label as label from main.annotations where dialogue_id is not null",
        "select dialogue_id, count(*) as length from main.turns group by all",
    )
    found: dict[str, Any] = defaultdict(lambda: defaultdict(list))
    for query in queries:
        cursor = con.execute(query)
        names = [column[0] for column in cursor.description or ()][1:]
        for dialogue_id, *values in cursor.fetchall():
            row = dict(zip(names, values, strict=True))
            if "length" in row:
                row = {"turns": str(max(least for least in (1, 5, 10, 20, 50, 100) if least <= row["length"]))}
            found[dialogue_id][query].append(row)
    return found


def holds(row: dict[str, str | None], choices: dict[str, tuple[str, ...]], text: str) -> bool:
    value = row.get("text")
    return all(row[name] in values for name, values in choices.items() if name in row) and (
        value is None or text.lower() in value.lower()
    )


@pytest.mark.parametrize(
    ("choices", "text"),
    first_quick(
        [
            ({}, ""),
            ({"corpus": ("dbdc3",)}, ""),
            ({"corpus": ("dbdc3", "mantis"), "split": ("dev",)}, ""),
            ({"release": ("dev_zips",), "split": ("eval", "dev"), "label": (BROKEN,)}, ""),
            ({"role": ("agent",), "turns": ("1", "5"), "label": ("mantis.intent=PA", "mantis.intent=FD")}, ""),
            ({"speaker": ("mona",), "role": ("agent",)}, ""),
            ({"corpus": ("no such",)}, ""),
            ({}, "museum"),
            ({"role": ("user",)}, "museum"),
            ({"corpus": ("mantis",), "speaker": ("mona",)}, "the"),
        ],
        3,
    ),
    ids=str,
)
def test_a_facet_counts_the_conversations_under_the_other_choices(
    con: Connection, choices: dict[str, tuple[str, ...]], text: str
) -> None:
    selection = ConversationSelection(choices, Pattern(text) if text else None)
    rows = con.execute(selection.counts(), selection.values).fetchall()
    counted = {(facet, choice): number for facet, choice, number in rows}
    expected: dict[tuple[str | None, str | None], set[str]] = {(None, None): set()}
    for dialogue_id, levels in attributes(con).items():
        if all(any(holds(row, choices, text) for row in level) for level in levels.values()) and (
            set(choices) <= {name for level in levels.values() for name in level[0]}
        ):
            expected[None, None].add(dialogue_id)
        for facet in FACETS:
            others = {name: values for name, values in choices.items() if name != facet.name}
            if not set(others) <= {name for level in levels.values() for name in level[0]}:
                continue
            matching = {query: [row for row in level if holds(row, others, text)] for query, level in levels.items()}
            if all(matching.values()):
                values = {row[facet.name] for level in matching.values() for row in level if facet.name in row} - {None}
                for value in values:
                    expected.setdefault((facet.name, value), set()).add(dialogue_id)
    assert counted == {key: len(dialogues) for key, dialogues in expected.items()}


def test_the_list_leads_to_every_conversation_and_counts_them(read: Read, sample: Path) -> None:
    page = read(sample)
    with duckdb.connect(sample, read_only=True) as con:
        known = [row[0] for row in con.execute("select dialogue_id from main.dialogues order by all").fetchall()]
    assert sorted(conversations(page)) == known
    assert conversations(read(sample, sort="id")) == known
    assert page.markdown[0].value == f"**{len(known)}** dialogues"
    assert {"dbdc3 (13)", "mantis (12)", "5 to 9 (26)"} <= set(choices(page))


def test_a_choice_that_leaves_nothing_is_shown_and_can_be_taken_back(read: Read, sample: Path) -> None:
    page = read(sample, corpus=["no such *corpus*"])
    assert "No dialogue matches" in messages(page)
    assert links(page)["Clear all"] == {}
    choices(page)["no such *corpus* (0)"].uncheck().run()
    assert dict(page.query_params) == {}


@pytest.mark.slow
def test_a_page_has_fifty_conversations_and_the_url_tells_which(read: Read, many: Path) -> None:
    first, last = read(many), read(many, page="3")
    assert len(conversations(first)) == 50
    every = [*conversations(first), *conversations(read(many, page="2")), *conversations(last)]
    assert sorted(every) == [f"many:{number:03}" for number in range(120)]
    assert conversations(read(many, page="3", sort="id")) == [f"many:{number:03}" for number in range(100, 120)]
    assert conversations(read(many, page="99")) == conversations(last)
    assert conversations(read(many, page="0")) == conversations(read(many, page="x")) == conversations(first)


@pytest.mark.slow
def test_all_values_of_a_facet_are_a_link_away(read: Read, many: Path) -> None:
    page = read(many)
    assert "many.mood=number 50 (1)" not in choices(page)
    query = links(page)[":gray[92 more of the 100 most frequent]"]
    assert query == {"more": ["label"]}
    every = read(many, **query)
    assert "many.mood=number 50 (1)" in choices(every)
    assert links(every)[":gray[Fewer of the 100 most frequent]"] == {}


# Search


@pytest.mark.parametrize(("text", "options"), first_quick(map(tuple, DATA["a_search_finds_what_the_command_finds"])))
def test_a_search_finds_what_the_command_finds(read: Read, sample: Path, text: str, options: dict[str, str]) -> None:
    page = read(sample, text=text, sort="id", **options)
    with duckdb.connect(sample, read_only=True) as con:
        found = search(con, text, regex="regex" in options, match_case="match_case" in options)
    assert conversations(page) == list(dict.fromkeys(hit.dialogue_id for hit in found.hits))
    marked = [unescape(match) for match in re.findall(r'<mark class="match">(.*?)</mark>', html(page))]
    assert marked == [hit.text[begin:end] for hit in found.hits for begin, end in hit.matches]


def test_a_found_turn_is_shown_with_its_neighbours(read: Read, sample: Path) -> None:
    for neighbours, expected in ((0, ["4", "5"]), (1, ["3", "4", "5", "6"])):
        page = read(sample, text="museum", neighbours=str(neighbours))
        assert re.findall(r'<span class="index"><a [^>]*>(\d+)</a></span>', html(page)) == expected


def test_a_broken_expression_is_explained_below_the_search(read: Read, sample: Path) -> None:
    page = read(sample, text="(", regex="1")
    assert "the regular expression can't be read" in messages(page)
    assert page.text_input[0].value == "("


@pytest.mark.slow
def test_typing_a_search_puts_it_into_the_url_and_goes_to_the_first_page(read: Read, many: Path) -> None:
    page = read(many, page="2")
    page.text_input[0].set_value("number 7").run()
    assert page.query_params["text"] == "number 7"
    assert "page" not in page.query_params
    assert sorted(conversations(page)) == ["many:007", *(f"many:07{number}" for number in range(10))]


@pytest.mark.slow
@pytest.mark.parametrize("order", [name for name in ORDERS if name != MIXED])
def test_every_order_is_that_of_its_key(read: Read, sample: Path, con: Connection, order: str) -> None:
    keys = {
        "disagreement": "select dialogue_id, -avg(entropy) from bi.turn_agreement where is_default and turn_index >= 0 "
        "group by all",
        "change": "select dialogue_id, -avg(change) from bi.label_changes where is_default group by all",
        "long": "select dialogue_id, -count(*) from main.turns group by all",
        "short": "select dialogue_id, count(*) from main.turns group by all",
        "id": "select dialogue_id, 0 from main.dialogues",
    }
    places = dict(con.execute(keys[order]).fetchall())
    known = [row[0] for row in con.execute("select dialogue_id from main.dialogues order by all").fetchall()]
    expected = sorted(known, key=lambda name: (places.get(name, math.inf), name))
    assert conversations(read(sample, sort=order)) == expected
    walk = read(sample, sort=order, dialogue=expected[0])
    walk.button(key="read.next").click().run()
    assert walk.query_params["dialogue"] == expected[1]


def test_by_disagreement_a_conversation_opens_at_its_turn_of_most(read: Read, sample: Path, con: Connection) -> None:
    page = read(sample, sort="disagreement", corpus=RELEASES)
    (first, *_) = (query for query in links(page).values() if "dialogue" in query)
    most = con.execute(
        "select turn_index from bi.turn_agreement where is_default and dialogue_id = ? order by -entropy, turn_index",
        first["dialogue"],
    ).fetchall()
    assert first["turn"] == [str(most[0][0])]
    assert "mean entropy of a turn" in html(page)


@pytest.mark.slow
def test_a_list_begins_with_every_corpus(read: Read, sample: Path) -> None:
    assert {name.partition(":")[0] for name in conversations(read(sample))[:15]} == set(corpora())


@pytest.mark.slow
def test_facets_that_take_long_are_counted_when_asked_for(read: Read, sample: Path) -> None:
    assert not [label for label in choices(read(sample)) if label.startswith(OUTCOME)]
    asked = read(sample, more="outcome")
    (gain,) = [box for label, box in choices(asked).items() if label.startswith(f"{OUTCOME}gain")]
    gain.check().run()
    assert asked.query_params["outcome"] == f"{OUTCOME}gain"
    assert [label for label in choices(read(sample, more="majority")) if label.startswith(BROKEN)]
    changed = read(sample, changed=f"{RELEASES}.breakdown: X \N{RIGHTWARDS ARROW} T")
    assert conversations(changed) == [f"{RELEASES}:YI9002"]


def test_an_id_that_is_typed_is_found(read: Read, sample: Path) -> None:
    assert links(read(sample, text=CIC.swapcase()))[CIC]["dialogue"] == [CIC]
    assert links(read(sample, text="ja/DCM/9000000001"))["dbdc3/dbdc3/ja/DCM/9000000001"]["record"]


@pytest.mark.slow
@pytest.mark.parametrize("title", ["Turns", "Ids", "Label Studio", "Argilla"])
def test_what_is_chosen_is_downloaded_whole(read: Read, sample: Path, tmp_path: Path, title: str) -> None:
    page = read(sample, corpus=RELEASES, label=BROKEN, text="'", sort="id", dialogue="")
    wanted = conversations(page)
    assert wanted
    page.session_state["file_content"] = title
    page.run()
    page.button(key="make_file").click().run()
    assert not page.error
    path = page.session_state["prepared_file"].path
    if path.suffix == ".zip":
        shutil.unpack_archive(path, tmp_path)
        (documents,) = (json.loads(path.read_text()) for path in tmp_path.glob("*s.json"))
        assert sorted(
            document["id"] if "id" in document else document["data"]["dialogue_id"] for document in documents
        ) == sorted(wanted)
    else:
        with path.open(newline="") as file:
            assert sorted({row["dialogue_id"] for row in csv.DictReader(file)}) == sorted(wanted)


# One conversation


def turn_of(page: AppTest, index: int) -> str:
    """What the page has of a turn, as HTML."""
    return re.split(r'(?=<div class="turn )', html(page))[index + 1]


def test_the_votes_of_a_turn_are_one_bar_of_the_default_publication(read: Read, sample: Path) -> None:
    page = read(sample, dialogue=TALK)
    turn = turn_of(page, 4)
    bars = re.findall(r"flex-grow:(\d+);background:(#\w+)", turn)
    good, doubtful, bad = label_colours(["O", "T", "X"], "good_to_bad").values()
    assert bars == [("2", good), ("6", doubtful), ("22", bad)]
    assert words(turn).endswith("breakdown O 2 T 6 X 22 (the majority)")
    legend = html(page).split('class="turn ')[0]
    once = "ungrammatical O The sentence is grammatical. by all 30 annotators, at every labelled turn (0, 2, 4, 6)"
    assert once in words(legend), "what all say of every turn is said once"
    assert "X Breakdown: it is difficult to continue the conversation." in words(legend)


def test_publications_stand_side_by_side_on_request_with_what_changed(read: Read, sample: Path) -> None:
    page = read(sample, dialogue=CIC)
    assert any("dbdc3\\_revised" in caption.value for caption in page.caption)
    assert words(turn_of(page, 6)).count("breakdown") == 1
    compared = read(sample, dialogue=CIC, compare="1")
    assert '--columns:2"' in html(compared)
    assert words(turn_of(compared, 0)).startswith("dbdc3 dev_zips dbdc3_revised")
    assert "T \N{RIGHTWARDS ARROW} X" in words(turn_of(compared, 7))
    assert turn_of(compared, 7).count("changed") == 1


def test_a_turn_of_the_address_is_marked_and_scrolled_to(read: Read, sample: Path) -> None:
    page = read(sample, dialogue=TALK, turn="4", text="a")
    assert re.findall(r'<div class="turn [^"]*here" id="turn-(\d+)"', html(page)) == ["4"]
    assert f"<script>{SCRIPT}</script>" in html(page)
    address = re.findall(r'<div class="index"><a href="([^"]*)"', html(page))[3]
    assert parse_qs(unescape(address).removeprefix("read?")) == {"dialogue": [TALK], "turn": ["3"], "text": ["a"]}
    assert "<script>" not in html(read(sample, dialogue=TALK))


TALK = f"{RELEASES}:9000000001"


@pytest.mark.slow
def test_two_speakers_have_two_sides_and_colours(read: Read, sample: Path) -> None:
    looks = re.findall(r'<div class="turn ([^"]*)" id', html(read(sample, dialogue=TALK)))
    assert looks == ["s0", "s1 right"] * 3 + ["s0"]


def test_candidates_are_the_first_and_the_gold_one_and_all_at_a_click(read: Read, sample: Path) -> None:
    shown = html(read(sample, dialogue="blended_skill_talk:test:0"))
    assert "candidates label: 100, gold at 40" in shown
    few = re.findall(r'<div class="items few">(.*?)</div></div>', shown)
    assert any(re.findall(r'index">(\d+)<', item) == ["0", "1", "2", "40"] for item in few)
    assert "<summary>Show all 100</summary>" in shown
    assert shown.count('title="gold"') == 4


@pytest.mark.slow
def test_next_and_previous_walk_through_the_list_as_it_is_chosen(read: Read, sample: Path) -> None:
    chosen = {"corpus": RELEASES, "split": "eval"}
    expected = conversations(read(sample, **chosen))
    page = read(sample, **chosen, dialogue=expected[0])
    assert page.button(key="read.previous").disabled
    walked = []
    while True:
        walked.append(page.query_params["dialogue"])
        assert {name: page.query_params[name] for name in chosen} == chosen
        if page.button(key="read.next").disabled:
            break
        page.button(key="read.next").click().run()
    assert walked == expected
    page.button(key="read.previous").click().run()
    assert page.query_params["dialogue"] == expected[-2]


@pytest.mark.parametrize("corpus", first_quick(corpora()))
def test_conversations_of_every_corpus_are_drawn_whole(read: Read, sample: Path, con: Connection, corpus: str) -> None:
    rows = con.execute("select dialogue_id from main.dialogues where corpus_id = ? order by all", [corpus]).fetchall()
    shown = html(read(sample, dialogue=rows[0][0]))
    for (dialogue_id,) in rows:
        found = show(con, dialogue_id)
        talk = talk_html(found, DialogueReading())
        assert len(re.findall('<div class="turn ', talk)) == len(found["turns"])
        texts = [unescape(text) for text in re.findall(r'<div class="text" dir="auto">(.*?)</div>', talk, re.DOTALL)]
        assert texts == [visible(turn["text"], lines=True) for turn in found["turns"] if turn["text"]]
    assert all(record["source"]["sha256"] in shown for record in show(con, rows[0][0])["records"])


def test_a_record_has_its_own_labels_and_leads_to_the_whole(read: Read, sample: Path) -> None:
    page = read(sample, record="dbdc3/dbdc3/ja/DCM/9000000001")
    assert page.code[-1].value.startswith("@inproceedings{dbdc3,\n")
    assert 'class="record" dir="auto">dbdc3<' not in html(page)
    assert links(page)[f"This is one record of {TALK}: show all"] == {"dialogue": [TALK]}


@pytest.mark.slow
def test_a_record_without_a_conversation_is_shown(read: Read, sample: Path, con: Connection) -> None:
    query = "select min(record_id) from main.records where dialogue_id is null group by corpus_id, subset"
    for (record_id,) in con.execute(query).fetchall():
        page = read(sample, record=record_id)
        assert not page.error
        assert not page.button


def test_an_unknown_id_is_explained_and_the_way_back_is_there(read: Read, sample: Path) -> None:
    page = read(sample, dialogue="nope <b>", corpus=RELEASES)
    assert "no dialogue or record 'nope <b>'" in messages(page)
    assert links(page)["List"] == {"corpus": ["dbdc3"]}


def test_the_source_is_offered_as_published(read: Read, sample: Path, con: Connection) -> None:
    name = "dbdc3/dbdc3/ja/DCM/9000000001"
    way = [query for query in links(read(sample, record=name)).values() if "source" in query]
    assert way == [{"record": [name], "source": [name]}]
    page = read(sample, **way[0])
    published = raw(con, name)
    assert page.code[0].value == published.decode()
    assert page.get("download_button")[0].proto.label == f"Download ({len(published):,} bytes)"
    assert links(page) == {"Dialogue": {"record": [name]}}


# What is in the warehouse


@pytest.mark.slow
def test_an_empty_warehouse_says_how_to_fill_it(read: Read, tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    migrations.upgrade(path)
    with duckdb.connect(path) as con:
        create_views(con, catalogue())
    assert "talkhouse build" in messages(read(path))


@pytest.mark.slow
def test_a_new_build_is_shown_and_an_open_conversation_that_is_gone_is_explained(
    read: Read, rebuild: Callable[..., object], tmp_path: Path
) -> None:
    for name in ("dbdc3", "delidata"):
        shutil.copytree(sample_of(corpora()[name]), tmp_path / "data" / name)
    rebuild(tmp_path / "data")
    page, talk = read(tmp_path / "w.duckdb"), read(tmp_path / "w.duckdb", dialogue=TALK)
    assert page.markdown[0].value == "**17** dialogues"
    assert not talk.error
    shutil.rmtree(tmp_path / "data" / "dbdc3")
    rebuild(tmp_path / "data", remove=("dbdc3",))
    assert page.run().markdown[0].value == "**4** dialogues"
    assert f"no dialogue or record '{TALK}'" in messages(talk.run())


MANY = r"""
from talkhouse.ingest.corpus import Corpus, Scheme
from talkhouse.ingest.outcomes import Loaded, SourceLocation
from talkhouse.ingest.rows import Annotation, Dialogue, Record, Speaker, Turn

TEXTS = %r

def read(files):
    for file in files:
        file.read()
        for number, texts in enumerate(TEXTS):
            name = f"many:{number:03}"
            where = (f"/{number}", "sub", None, "all", number, None)
            rows = [Record(f"many/{number:03}", "many", name, None, None, "sub", None, "all", None, number, file.id,
                f"/{number}"), Dialogue(name, "many", None, title=texts[0])]
            for index, text in enumerate(texts):
                speaker = f"many:{number}/{index}"
                rows.append(Speaker(speaker, "many", None, text, "human", False))
                rows.append(Turn(name, index, speaker, "user", "message", text))
            labelled = (f"many/{number:03}", 0, None, None, "many.mood", 0, 0, name)
            rows.append(Annotation(*labelled, None, texts[0], texts[0]))
            yield Loaded(SourceLocation(file, *where), rows)

def write(records):
    return iter(())

CORPUS = Corpus(id="many", version=1, title="Many", description="", homepage="", licence="none", citation="none",
    languages=("en",), files="text files", splits={"all": None}, schemes=(Scheme("many.mood", "Mood.", "turn"),),
    read=read, write=write)
"""


def build_texts(folder: Path, texts: list[list[str]]) -> Path:
    """Build a warehouse of a corpus with these turns."""
    (folder / "roots" / "many").mkdir(parents=True)
    (folder / "roots" / "many" / "__init__.py").write_text(MANY % (texts,))
    (folder / "data" / "many").mkdir(parents=True)
    (folder / "data" / "many" / "a.txt").write_text("hello")
    build(folder / "w.duckdb", Silent(), data=folder / "data", corpus_roots=(folder / "roots",))
    return folder / "w.duckdb"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_texts(tmp_path_factory.mktemp("many"), [[f"number {number}"] for number in range(120)])


ODD = DATA["odd"]


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_texts(tmp_path_factory.mktemp("odd"), [ODD, *([text] for text in ODD)])


@pytest.mark.slow
def test_odd_texts_are_shown_and_never_act(read: Read, odd: Path) -> None:
    pages = [read(odd), read(odd, text="a"), read(odd, dialogue="many:000")]
    for page in pages:
        tags = set(re.findall(r"<(\w+)", html(page)))
        assert tags <= {"div", "span", "mark", "h1", "details", "summary", "time", "a", "ul", "li"}
        assert not re.search(r"<[^>]*\son\w+=", re.sub(r'"[^"]*"', "", html(page)))
        assert not re.search("[\x00-\x08\u202e]", html(page))
    shown = unescape(html(pages[2]))
    assert "nul \\x00 bell \\x07 \\u202eabc" in shown
    assert all(text in shown for text in ODD if "\x00" not in text)


@pytest.mark.slow
@pytest.mark.parametrize("text", ODD)
def test_an_odd_name_is_a_choice(read: Read, odd: Path, text: str) -> None:
    page = read(odd, speaker=text)
    assert len(conversations(page)) == 2
    assert page.query_params["speaker"] == text
    assert f"{visible(text)} (2)" in choices(page)
    labels = [element.proto.label for kind in ("page_link", "checkbox") for element in page.get(kind)]
    assert not [label for label in labels if re.search(r"(?<!\\):material|(?<!\\)\*\*|(?<!\\)<|(?<!\\)`", label)]


def test_agents_stand_on_their_side_whoever_they_are() -> None:
    turns = [("c", "customer"), ("a1", "agent"), ("c", "customer"), ("a2", "agent")]
    found = {
        "participants": [{"speaker_id": name, "kind": "human"} for name in ("c", "a1", "a2")],
        "turns": [{"speaker_id": name, "speakers": None, "role": role} for name, role in turns],
    }
    assert speaker_looks(found) == {"c": "s0", "a1": "s1 right", "a2": "s2 right"}
    found["turns"].append({"speaker_id": "b", "speakers": None, "role": "bot"})
    assert not [look for look in speaker_looks(found).values() if "right" in look], "three roles have no two sides"
