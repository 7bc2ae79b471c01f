"""The folder is the registration: a broken corpus folder stops the run with its name and the reason."""

from pathlib import Path

import pytest

from talkhouse.ingest.registry import DEFAULT_ROOT, corpora, pick
from talkhouse.schema.errors import RegistryError, UsageError
from tests.plugins import CORPUS
from tests.test_layers import FOR_CORPORA, ROOT


def toy(root: Path, name: str = "toy", corpus_id: str = "toy", more: str = "") -> Path:
    folder = root / name
    folder.mkdir()
    (folder / "__init__.py").write_text(CORPUS.format(corpus_id=corpus_id, more=more))
    return root


def test_our_corpora_are_found_without_a_list() -> None:
    assert list(corpora()) == sorted(path.parent.name for path in DEFAULT_ROOT.glob("*/__init__.py"))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("toy", "import nothing_of_that_name", "ModuleNotFoundError: No module named 'nothing_of_that_name'"),
        ("toy", "def broken(:", "SyntaxError"),
        ("toy", "", "no CORPUS"),
        ("toy", CORPUS.format(corpus_id="tony", more=""), "CORPUS.id is 'tony'"),
        ("main", CORPUS.format(corpus_id="main", more=""), "none of: main"),
        ("Toy", CORPUS.format(corpus_id="Toy", more=""), "lower case"),
    ],
)
def test_a_broken_folder_stops_the_run_with_its_name(tmp_path: Path, name: str, content: str, reason: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text(content)
    with pytest.raises(RegistryError) as caught:
        corpora([DEFAULT_ROOT, tmp_path])[name]
    assert f"the corpus folder '{name}' is broken" in str(caught.value)
    assert reason in str(caught.value)


def test_the_line_of_a_broken_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "read.py").write_text("SPLITS = {}\n\nSPLIT['train'] = 'train'\n")
    (tmp_path / "toy" / "__init__.py").write_text("from .read import SPLITS\n")
    with pytest.raises(RegistryError) as caught:
        corpora([tmp_path])["toy"]
    assert "NameError: name 'SPLIT' is not defined" in str(caught.value)
    assert f", in {tmp_path / 'toy' / 'read.py'}, line 3, in <module>" in str(caught.value)


def test_two_corpora_of_one_id_are_refused(tmp_path: Path) -> None:
    known = corpora([DEFAULT_ROOT, toy(tmp_path, "dbdc3", "dbdc3")])
    with pytest.raises(RegistryError, match=rf"there are two corpora 'dbdc3'[\s\S]*built in.*{tmp_path}"):
        known["dbdc3"]
    assert known["mantis"].id == "mantis", "the others are as they were"


def test_a_scheme_must_name_its_corpus(tmp_path: Path) -> None:
    more = "schemes=(__import__('talkhouse.ingest.corpus').ingest.corpus.Scheme('other.x', '', 'turn'),)"
    with pytest.raises(RegistryError, match=r"must begin with 'toy\.'"):
        corpora([toy(tmp_path, more=more)])["toy"]


def test_an_unknown_id_names_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"no corpus 'dbcd3'[\s\S]*one of: dbdc3, .*mpchat"):
        pick(corpora(), "dbcd3")


# The modules at the top of ingest are what corpora may import, and one that finds the corpora.


def test_the_top_of_ingest_is_what_corpora_may_import() -> None:
    assert {path.stem for path in (ROOT / "ingest").glob("*.py")} == FOR_CORPORA | {"__init__"}


def test_every_module_and_folder_is_named_in_its_docstring() -> None:
    text = (ROOT / "ingest" / "__init__.py").read_text(encoding="utf-8")
    folders = {path.parent.name for path in Path(ROOT / "ingest").glob("*/__init__.py")}
    assert {name for name in FOR_CORPORA | folders if f"``{name}``" not in text} == set()
