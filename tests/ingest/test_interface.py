"""The modules at the top of ingest are what corpora may import, and one that finds the corpora."""

from pathlib import Path

from tests.test_layers import FOR_CORPORA, ROOT


def test_the_top_of_ingest_is_what_corpora_may_import() -> None:
    assert {path.stem for path in (ROOT / "ingest").glob("*.py")} == FOR_CORPORA | {"__init__"}


def test_every_module_and_folder_is_named_in_its_docstring() -> None:
    text = (ROOT / "ingest" / "__init__.py").read_text(encoding="utf-8")
    folders = {path.parent.name for path in Path(ROOT / "ingest").glob("*/__init__.py")}
    assert {name for name in FOR_CORPORA | folders if f"``{name}``" not in text} == set()
