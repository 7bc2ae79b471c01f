"""Corpora of installed packages and of named folders: each mistake is one message, and the others are there."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.registry import all_corpora, corpora, pick, sample_of
from talkhouse.schema.errors import RegistryError, UsageError
from tests.commands import run
from tests.plugins import CORPUS, installed

OWN = list(corpora())


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that Python imports from; what it has imported is forgotten at the end."""
    path = tmp_path / "site"
    path.mkdir()
    monkeypatch.syspath_prepend(str(path))
    yield path
    sys.modules.pop("lab_toys", None)


def test_a_package_brings_a_corpus_with_what_lies_beside_its_module(site: Path) -> None:
    module = installed(site)
    known = all_corpora()
    assert "lab_toys" not in sys.modules, "imported to be listed"
    assert [*known] == sorted([*OWN, "toy"])
    assert str(known.origin("toy")) == "package lab-toys 1.2"
    assert "lab_toys" not in sys.modules
    assert sample_of(pick(known, "toy")) == module / "sample"


def test_a_corpus_may_import_by_the_name_that_was_used_before(site: Path) -> None:
    content = CORPUS.replace("talkhouse.corpus", "ingest.corpus")
    more = "from ingest import rows\nfrom ingest.texts import Texts\nROW = rows.Turn\n"
    installed(site, content=content.format(corpus_id="toy", more="") + more)
    from talkhouse.ingest import keys, rows

    assert type(all_corpora()["toy"]) is Corpus
    assert sys.modules["lab_toys"].ROW is rows.Turn
    assert rows.__spec__ is not None
    assert rows.__spec__.name == "talkhouse.ingest.rows"
    assert sys.modules["lab_toys"].Texts is keys.Texts, "its module has moved since"


@pytest.mark.parametrize(
    ("options", "reason", "step"),
    [
        ({"content": "import nothing_of_that_name"}, "No module named 'nothing_of_that_name'", "repair it or remove"),
        ({"content": "raise SystemExit(3)"}, "SystemExit: 3", "pip uninstall lab-toys"),
        ({"content": "\n1 / 0"}, "ZeroDivisionError: division by zero, in .*__init__.py, line 2", "pip uninstall"),
        ({"content": "CORPUS = 'toy'"}, "lab_toys:CORPUS is no Corpus, but a str", "pip uninstall"),
        ({"attribute": "CORPVS"}, "AttributeError: .*CORPVS", "pip uninstall"),
        ({"attribute": "CORPUS = nonsense"}, "Error", "pip uninstall"),
        ({"more": "terms=3"}, "terms is a text, not 3", "pip uninstall"),
        ({"content": CORPUS.format(corpus_id="tony", more="")}, "its id is 'tony'", "pip uninstall"),
        ({"content": "from talkhouse.corpus import Hologram"}, "ImportError", "for another Talkhouse"),
        ({"more": "hologram=True"}, "unexpected keyword argument 'hologram'", "for another Talkhouse"),
        ({"more": "api=2"}, "api = 2", "pip install --upgrade talkhouse"),
        ({"more": "api=0"}, "api = 0", "a newer version of the package lab-toys"),
        ({"more": "api='1'"}, "api = '1'", "a newer version of the package lab-toys"),
    ],
)
def test_a_broken_package_stops_who_needs_it(site: Path, options: dict[str, str], reason: str, step: str) -> None:
    installed(site, **options)
    known = all_corpora()
    assert known[OWN[0]].id == OWN[0]
    with pytest.raises(RegistryError, match=rf"'toy'[\s\S]*found: .*{reason}[\s\S]*next: .*{step}") as caught:
        known["toy"]
    assert "lab-toys 1.2" in str(caught.value)


@pytest.mark.parametrize("text", [b"[talkhouse.corpora]\ntoy\n", b"[talkhouse.corpora]\ntoy = \xff\n"])
def test_a_damaged_list_of_entry_points_is_told(site: Path, text: bytes) -> None:
    installed(site)
    (site / "lab_toys-1.2.dist-info" / "entry_points.txt").write_bytes(text)
    known = all_corpora()
    assert known[OWN[0]].id == OWN[0]
    with pytest.raises(RegistryError, match=r"package lab-toys 1\.2 is broken[\s\S]*entry_points\.txt"):
        known["lab-toys"]


def test_a_package_of_two_versions_is_refused(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(site)
    monkeypatch.syspath_prepend(str(tmp_path / "older"))
    installed(tmp_path / "older", version="1.1")
    with pytest.raises(RegistryError) as caught:
        all_corpora()["toy"]
    assert f"package lab-toys 1.1 ({tmp_path / 'older'}) and package lab-toys 1.2 ({site})" in str(caught.value)


def test_one_version_that_is_found_twice_is_one(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(site)
    monkeypatch.syspath_prepend(str(tmp_path / "again"))
    installed(tmp_path / "again")
    assert all_corpora()["toy"].id == "toy"


def test_the_id_of_a_package_may_be_taken(site: Path) -> None:
    installed(site, OWN[0])
    with pytest.raises(RegistryError, match=rf"two corpora '{OWN[0]}'[\s\S]*built in .* and package lab-toys 1.2"):
        all_corpora()[OWN[0]]
    assert all_corpora()[OWN[1]].id == OWN[1]


def test_a_folder_that_is_a_corpus_is_known_by_itself(tmp_path: Path) -> None:
    for name in ("toy", "game"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(CORPUS.format(corpus_id=name, more=""), encoding="utf-8")
    assert [*corpora([tmp_path])] == ["game", "toy"]
    known = all_corpora([tmp_path / "toy", tmp_path / "toy"])
    assert [*known] == sorted([*OWN, "toy"])
    assert (known["toy"].id, str(known.origin("toy"))) == ("toy", f"folder {tmp_path / 'toy'}")


@pytest.mark.parametrize("name", ["nowhere", "empty", "file"])
def test_a_folder_without_corpora_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty" / "data").mkdir(parents=True)
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="--corpora") as caught:
        all_corpora([tmp_path / name])
    assert str(tmp_path / name) in str(caught.value)


def at(folder: Path, content: str) -> Path:
    (folder / "toy").mkdir()
    (folder / "toy" / "__init__.py").write_text(f"{content}\n{CORPUS.format(corpus_id='toy', more='')}")
    return folder


NO_TEXT = "class E(BaseException):\n    def __str__(self): raise RuntimeError\nraise E"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("class Odd(BaseException): pass\nraise Odd('odd')", "Odd: odd, in .*line 2"),
        *(
            pytest.param(content, reason, marks=pytest.mark.slow)
            for content, reason in [
                ("raise GeneratorExit('ended')", "GeneratorExit: ended"),
                (NO_TEXT, "E: a message that can't be written"),
                ("def f(): f()\nf()", "RecursionError: maximum recursion depth"),
                ("raise ValueError('first\\nsecond')", "ValueError: first, in"),
                ("raise ValueError('long' * 10_000)", "ValueError: (long){75}, in"),
                ("raise ExceptionGroup('many', [ValueError('one')])", "ExceptionGroup: many"),
                ("def __getattr__(name): raise LookupError(name)\nif 1: raise LookupError", "LookupError"),
            ]
        ),
    ],
)
def test_whatever_code_raises_names_its_folder(tmp_path: Path, content: str, reason: str) -> None:
    known = all_corpora([at(tmp_path, content)])
    with pytest.raises(RegistryError, match=rf"'toy' is broken[\s\S]*found: .*{reason}"):
        known["toy"]
    assert [corpus["problem"] is None for corpus in known.described() if corpus["corpus_id"] == "toy"] == [False]


@pytest.mark.slow
def test_an_attribute_that_raises_names_its_folder(tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "__init__.py").write_text("def __getattr__(name): raise SystemExit(f'no {name} for you')\n")
    with pytest.raises(RegistryError, match=r"SystemExit: no CORPUS for you"):
        all_corpora([tmp_path])["toy"]


@pytest.mark.slow
def test_a_value_that_raises_where_one_looks_at_it_names_its_folder(tmp_path: Path) -> None:
    root = at(tmp_path, "class Odd(tuple):\n    def __iter__(self): raise LookupError('not for you')")
    with (root / "toy" / "__init__.py").open("a") as code:
        code.write("\nimport dataclasses\nCORPUS = dataclasses.replace(CORPUS, schemes=Odd())\n")
    with pytest.raises(RegistryError, match=r"'toy' is broken[\s\S]*LookupError: not for you, in .*line 2"):
        all_corpora([root])["toy"]


@pytest.mark.slow
def test_whoever_is_interrupted_is_told_what_takes_so_long(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt, match=rf"imported: folder {tmp_path / 'toy'}"):
        all_corpora([at(tmp_path, "raise KeyboardInterrupt")])["toy"]


LOUD = """
import os, sys, io, logging
print("printed")
sys.stdout.write("written")
os.write(1, b"by its number")
os.system("echo by a program")
logging.basicConfig(stream=sys.stdout)
sys.stdout.close()
sys.stderr = sys.stdout = io.StringIO()
os.chdir("/")
"""


@pytest.mark.slow
def test_what_code_prints_where_it_goes_and_what_it_closes_changes_nothing_of_a_command(tmp_path: Path) -> None:
    root = at(tmp_path, LOUD)
    done = run("corpora", "--json", "--corpora", root, cwd=tmp_path)
    assert (done.returncode, len(json.loads(done.stdout))) == (0, len(OWN) + 1)
    for words in ("printed", "written", "by its number", "by a program"):
        assert words in done.stderr
    (tmp_path / "chat.jsonl").write_text('{"id": 1, "messages": [{"role": "user", "content": "Hi."}]}\n')
    done = run("ingest", "toy", "chat.jsonl", "--dry-run", "--corpora", root, cwd=tmp_path)
    assert "no such file" not in done.stderr
