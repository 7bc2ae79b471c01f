"""From dumps to dialogues: by a slow implementation of the rules, by worked examples, and by what goes wrong."""

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from talkhouse.ingest.corpora.mantis.format import PLACEHOLDER
from talkhouse.ingest.corpora.mantis.make.dialogues import clean, has_link, is_edited, scorer
from talkhouse.ingest.corpora.mantis.make.ranking_files import boundaries, slices
from talkhouse.ingest.corpus import MakeOptions, NotMade, WrongInput
from talkhouse.ingest.registry import corpora
from tests.corpora.mantis.dumps import InventedDump, expected, invent
from tests.corpora.mantis.negatives import Silent
from tests.data_files import data_of

FOLDER = Path(os.environ.get("TALKHOUSE_DATA") or "no data").parent / "expected" / "builder"
SPLITS = ("train", "dev", "test")


def make(inputs: list[Path], folder: Path | None, **options: Any) -> Any:
    maker = corpora()["mantis"].make
    assert maker
    if folder:
        folder.mkdir()
    return maker(inputs, MakeOptions(**options), folder, Silent())


def merged(folder: Path, split: str) -> list[Any]:
    return list(json.loads((folder / f"merged_{split}.json").read_bytes()).values())


@pytest.mark.parametrize("seed", [*range(25), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(25, 100))])
def test_dialogues_are_those_of_the_rules(tmp_path: Path, seed: int) -> None:
    dump = invent(seed)
    manifest = make([dump.write(tmp_path / "travel")], tmp_path / "made")
    dialogues = [talk for split in SPLITS for talk in merged(tmp_path / "made", split)]
    assert json.dumps(dialogues) == json.dumps(expected(dump, "travel", 0.17, scorer()))
    answers = manifest["sites"]["travel"]["answers"]
    assert answers["seen"] == sum(row["PostTypeId"] == "2" for row in dump.posts)
    assert answers["kept"] + sum(answers["dropped"].values()) == answers["seen"]


def test_the_invented_dumps_have_every_case(tmp_path: Path) -> None:
    dropped, findings, dialogues = Counter[str](), Counter[str](), 0
    for seed in range(40):
        site = make([invent(seed).write(tmp_path / str(seed) / "travel")], None)["sites"]["travel"]
        dropped.update(site["answers"]["dropped"])
        findings.update(site["findings"].keys())
        dialogues += site["dialogues"]
    assert dialogues > 20
    assert all(dropped.values()), dropped
    assert {"answers_at_one_time", "empty_comments", "people_not_in_users"} <= findings.keys()


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("<p>The wall.</p>\n<p>People</p>", "The wall.People"),
        ('<a href="x">y</a> <A HREF="x">y</A>', '<a href="x">y y'),
        ("<abbr>a</abbr><article><br><br/></br>", "<abbr>a<article><br><br/>"),
        ("x < y and z > w, List<String>, <3 or <br>", "x  w, List, "),
        ('<p\nclass="x">y</p>', '<pclass="x">y'),
        ("&lt;p&gt; &amp;amp; \u2028\ufeff", "&lt;p&gt; &amp;amp; \u2028\ufeff"),
        ("<b></b>\r\n\t", PLACEHOLDER),
        (" ", " "),
    ],
)
def test_text_is_cleaned_as_by_the_authors(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


def test_links_and_edits_are_what_the_authors_take_for_them() -> None:
    assert all(map(has_link, ["the word href", "http:// ", "https://x", "http://_"]))
    assert not any(map(has_link, ["HTTP://x", "www.x.org", "ftp://x", "http://\u00e9", "http:/x"]))
    assert all(map(is_edited, ["EDIT: x", "credit: y", "deprecated:"]))
    assert not any(map(is_edited, ["EDIT</b>: x", "edited", "deprecated"]))


@pytest.mark.parametrize(
    ("times", "sizes"),
    [
        (range(20), (14, 3, 3)),
        ([*range(12), 12, 12, 12, *range(13, 16)], (14, 2, 2)),  # the last of three equal ones opens dev
        ([0] * 10, (9, 1, 0)),
        (range(6), (4, 2, 0)),
        (range(1), (0, 1, 0)),
        ([], (0, 0, 0)),
    ],
)
def test_splits_are_cut_by_time(times: Any, sizes: tuple[int, ...]) -> None:
    times = list(times)
    numbers = slices(boundaries(times), len(times))
    assert tuple(map(len, numbers.values())) == sizes
    assert [number for run in numbers.values() for number in run] == list(range(len(times)))


def talk(post: int, *, asker: str = "1", day: int = 1) -> InventedDump:
    """A question and an answer that are talked about: a dialogue."""
    time = f"2012-01-{day:02}T08:00:00.000"
    question = {"Id": str(post), "PostTypeId": "1", "CreationDate": time, "Body": "How?", "OwnerUserId": asker}
    answer = question | {"Id": str(post + 1), "PostTypeId": "2", "ParentId": str(post), "OwnerUserId": "9"}
    comment = {"PostId": str(post + 1), "CreationDate": time}
    comments = [
        comment | {"Id": str(post + 2 + n), "Text": f"Good {post}.{n}", "UserId": user}
        for n, user in enumerate((asker, "9"))
    ]
    return InventedDump([question | {"Title": "T"}, answer | {"Body": f"http://x/{post}"}], comments)


def test_a_bad_reference_is_mended_and_reported_with_its_row(tmp_path: Path) -> None:
    folder = talk(1).write(tmp_path / "travel")
    posts = folder / "Posts.xml"
    text = posts.read_bytes().replace(b"How?", b"a&#x0E;b&#0;c&#xD800;&#x41;&#99999999999;")
    posts.write_bytes(text.replace(b"http:", b"&#1; http:"))
    site = make([folder], tmp_path / "made")["sites"]["travel"]
    (dialogue,) = merged(tmp_path / "made", "dev")
    assert dialogue["utterances"][0]["utterance"] == "a\ufffdb\ufffdc\ufffdA\ufffd"
    finding = site["findings"]["invalid_references"]
    assert finding["count"] == 5
    assert (finding["first"][0], finding["first"][4]) == (f"{posts}, row 1: &#x0E;", f"{posts}, row 2: &#1;")


def test_what_newer_dumps_begin_with_is_read(tmp_path: Path) -> None:
    folder = talk(1).write(tmp_path / "travel")
    for path in folder.iterdir():
        head, _, rest = path.read_bytes().partition(b"\r\n")
        notice = b"\r\n<!--\r\n  A notice of <row />.\r\n-->\r\n<!-- another -->\r\n"
        path.write_bytes(b"\xef\xbb\xbf" + head + notice + rest + b"\r\n")
    assert make([folder], None)["sites"]["travel"]["dialogues"] == 1


def test_the_first_of_two_posts_with_one_id_counts(tmp_path: Path) -> None:
    dump = talk(1)
    dump.posts.append(dump.posts[0] | {"Body": "Other words"})
    site = make([dump.write(tmp_path / "travel")], tmp_path / "made")["sites"]["travel"]
    assert merged(tmp_path / "made", "dev")[0]["utterances"][0]["utterance"] == "How?"
    assert site["findings"]["repeated_posts"]["count"] == 1


def test_a_site_without_questions_gives_empty_files(tmp_path: Path) -> None:
    folder = InventedDump().write(tmp_path / "travel")
    (folder / "Votes.xml").write_text("<votes />")
    assert make([folder], tmp_path / "made", negatives=(10, 50))["sites"]["travel"]["answers"]["seen"] == 0
    assert merged(tmp_path / "made", "train") == []
    assert (tmp_path / "made" / "data_train.tsv").read_bytes() == b""


def _changed(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], Path]:
    def harm(folder: Path) -> Path:
        (folder / name).write_bytes(change((folder / name).read_bytes()))
        return folder

    return harm


def _without_users(folder: Path) -> Path:
    (folder / "Users.xml").unlink()
    return folder


_NO_END = b"<posts><row B='" + b"a" * 9_000_000 + b"'/>"
_NESTED = b"<posts>" + b"<row>" * 1_002 + b"<row />"
_cut = _changed("Posts.xml", lambda raw: raw[:-20])
_malformed = _changed("Comments.xml", lambda raw: raw.replace(b'Text="Good 1.1"', b"Text=Good"))
_other_file = _changed("Votes.xml", lambda _: b"<html></html>")
_no_number = _changed("Posts.xml", lambda raw: raw.replace(b'Id="2"', b'Id="two"'))


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (_cut, r"Posts\.xml, line 4: the file ends in the middle, or something else follows its rows; nothing was"),
        (_malformed, r"Comments\.xml, line 4: the XML is malformed; .*\n.*\n.*found: .*not well-formed.*Text=Good"),
        (
            _changed("Posts.xml", lambda _: _NO_END),
            r"Posts\.xml, line 1: the file has no rows; .*\n.*\n.*found: +8,999,993 bytes without '/>'",
        ),
        (
            _changed("Posts.xml", lambda _: _NESTED),
            r"Posts\.xml, line 1: the file has elements in others; .*\n.*\n.*found: +more than 1,000",
        ),
        (_without_users, r"travel: Users\.xml is missing"),
        (_other_file, r"Votes\.xml, line 1: the file is not a file of a dump; .*\n.*<votes>.*\n.*found: .*<html>"),
        (_no_number, r"Posts\.xml: a row whose Id is missing or no number"),
    ],
)
def test_a_damaged_dump_stops_with_its_place(tmp_path: Path, harm: Any, message: str) -> None:
    with pytest.raises(NotMade, match=message):
        make([harm(talk(1).write(tmp_path / "travel"))], tmp_path / "made")


@pytest.mark.parametrize(("options", "message"), data_of(__file__)["a_wrong_option_stops_before_anything"])
def test_a_wrong_option_stops_before_anything(tmp_path: Path, options: Any, message: str) -> None:
    folders = [talk(1).write(tmp_path / name) for name in ("travel", "gardening")]
    with pytest.raises(WrongInput, match=message):
        make(folders, None, **options)


def test_a_wrong_input_stops_before_anything(tmp_path: Path) -> None:
    travel = talk(1).write(tmp_path / "a" / "travel")
    again = talk(1).write(tmp_path / "b" / "travel.stackexchange.com")
    with pytest.raises(WrongInput, match=r"the site travel is given twice"):
        make([travel, again], None)
    with pytest.raises(WrongInput, match="there is no such file or folder"):
        make([tmp_path / "none"], None)
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.txt").write_text("x")
    for path, found in ((tmp_path / "empty", "an empty folder"), (tmp_path / "a.txt", "a file that is no .7z")):
        with pytest.raises(WrongInput, match=rf"this is not the dump of a site\n.*\n.*found: .*{found}"):
            make([path], None)


def test_sites_are_named_chosen_and_have_thresholds(tmp_path: Path) -> None:
    for name in ("askubuntu.com", "travel.stackexchange.com", "gardening"):
        talk(1).write(tmp_path / "dumps" / name)
    sites = make([tmp_path / "dumps"], None)["sites"]
    assert list(sites) == ["askubuntu", "gardening", "travel"]
    assert [site["threshold"]["value"] for site in sites.values()] == [0.37, 0.05, 0.17]
    assert [site["host"] for site in sites.values()] == [
        "askubuntu.com",
        "gardening.stackexchange.com",
        "travel.stackexchange.com",
    ]
    chosen = make([tmp_path / "dumps"], tmp_path / "made", sites=("travel", "askubuntu"), thresholds={"travel": -1.0})
    assert list(chosen["sites"]) == ["travel", "askubuntu"]
    assert [talk["category"] for talk in merged(tmp_path / "made", "dev")] == ["travel", "askubuntu"]
    assert chosen["sites"]["travel"]["threshold"] == {"value": -1.0, "source": "--threshold"}
    assert list(make([tmp_path / "dumps" / "gardening"], None, sites=("apple",))["sites"]) == ["apple"]


def test_too_few_texts_stop_with_the_largest_number_that_works(tmp_path: Path) -> None:
    dump = InventedDump()
    for number in range(20):
        example = talk(10 * number + 1, day=number + 1)
        dump.posts += example.posts
        dump.comments += example.comments
    folder = dump.write(tmp_path / "travel")
    with pytest.raises(
        NotMade, match=r"all sites together: .* for 50 negatives(.*\n)*.*34 different texts, enough for 33"
    ):
        make([folder], tmp_path / "many", negatives=(10, 50))
    ranked = make([folder], tmp_path / "few", negatives=(10,))["rankings"]["10"]
    assert {split: facts["rows"] for split, facts in ranked["splits"].items()} == {"train": 154, "dev": 33, "test": 33}


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"there is no {FOLDER}: the authors' own outputs")
def test_the_reference_dump_gives_the_authors_bytes(tmp_path: Path) -> None:
    manifest = make([FOLDER / "dump"], tmp_path / "made", sites=("diy", "travel"))
    for split in SPLITS:
        name = f"merged_{split}.json"
        assert (tmp_path / "made" / name).read_bytes() == (FOLDER / "json" / name).read_bytes()
    cases = json.loads((FOLDER / "dump" / "cases.json").read_bytes())
    asked = Counter(
        (talk["category"], int(talk["utterances"][0]["id"]))
        for split in SPLITS
        for talk in merged(tmp_path / "made", split)
    )
    assert {(case["site"], case["question"]): case["dialogues"] for case in cases} == {
        (case["site"], case["question"]): asked[case["site"], case["question"]] for case in cases
    }
    assert [site["dialogues"] for site in manifest["sites"].values()] == [228, 244]


@pytest.mark.slow
@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"there is no {FOLDER}: the authors' own outputs")
def test_sentiment_is_that_of_the_authors_version() -> None:
    texts, scores = (
        json.loads((FOLDER / "vader" / name).read_bytes()) for name in ("texts.json", "compound_nltk_3.4.json")
    )
    assert [scorer()(text) for text in texts] == scores


def test_a_document_type_is_refused_and_nothing_is_expanded(tmp_path: Path) -> None:
    folder = talk(1).write(tmp_path / "travel")
    entities = '<!DOCTYPE posts [<!ENTITY a "aaaaaaaaaa"><!ENTITY b SYSTEM "file:///etc/hostname">]>'
    posts = folder / "Posts.xml"
    text = posts.read_text()
    posts.write_text(text.replace("<posts>", entities + "<posts>"))
    with pytest.raises(NotMade, match=r"Posts\.xml, line 1: the file is not a file of a dump"):
        make([folder], None)
    posts.write_text(text.replace("How?", "&a;&b;"))
    with pytest.raises(NotMade, match=r"the XML is malformed; .*\n.*\n.*undefined entity"):
        make([folder], None)
