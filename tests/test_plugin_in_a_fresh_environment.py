"""A package with a corpus of its own next to Talkhouse, both installed as users install them."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from tests import outside
from tests.postgres_server import Database

ROOT = Path(__file__).parent.parent
RADIO = Path(__file__).parent / "radio"
PAGE = """
import sys
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash
from talkhouse.dashboard.server import APP

page = AppTest.from_file(str(APP), default_timeout=120)
page._page_hash = calc_hash("radio_calls")
page.run()
assert not page.exception, page.exception
print([title.value for title in page.title], [text.value for text in page.markdown])
"""

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fresh")
    outside.run(["uv", "build", "--quiet", "--out-dir", str(folder / "dist"), str(ROOT)], folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    outside.run(["uv", "venv", "--quiet", str(folder / "environment")], folder)
    python = str(folder / "environment" / "bin" / "python")
    outside.run(["uv", "pip", "install", "--quiet", "--python", python, f"{wheel}[dashboard,postgres]"], folder)
    shutil.copytree(RADIO, folder / "lab-radio")
    shutil.copytree(RADIO / "lab_radio" / "sample", folder / "data" / "radio_calls")
    return folder


def test_it_is_built_restored_and_shown_everywhere(environment: Path, postgres: Database) -> None:
    python, pip = str(environment / "environment" / "bin" / "python"), ["uv", "pip", "--quiet"]
    # The environment of commands is that of before the tests; what they need is set by `env`.
    variables = ["env", f"TALKHOUSE_DB={environment / 'w.duckdb'}", f"HOME={environment}"]

    def talk(*words: str) -> str:
        return outside.run([*variables, str(environment / "environment" / "bin" / "talkhouse"), *words], environment)

    outside.run([*pip, "install", "--python", python, str(environment / "lab-radio")], environment)
    assert "package lab-radio 1.0" in talk("corpora")
    talk("build", "--data", "data")
    assert "2 equal (2 to the byte" in talk("verify")
    talk("restore", "radio_calls", "--output", "back")
    for path in (environment / "data" / "radio_calls").rglob("*.log"):
        assert (environment / "back" / path.relative_to(environment / "data" / "radio_calls")).read_bytes() == (
            path.read_bytes()
        )
    outside.run([*pip, "uninstall", "--python", python, "lab-radio"], environment)
    assert "radio_calls" not in talk("corpora")
    talk("report", "--output", "report.html")
    assert "Calls by channel" in (environment / "report.html").read_text(encoding="utf-8")
    talk("export", "--for", "superset", "--output", "bundle.zip")
    with zipfile.ZipFile(environment / "bundle.zip") as archive:
        assert any(name.endswith("dashboards/radio_calls.yaml") for name in archive.namelist())
    talk("lake", "lake")
    assert '"act_train"' in (environment / "lake" / "snapshot-1" / "translation.json").read_text(encoding="utf-8")
    found = json.loads(talk("publish", postgres.url(), "--json"))
    assert (found["outcome"], found["left_out"]) == ("published", [])
    with postgres.connect() as server:
        assert server.execute("select label from radio_calls.act order by split, example_index").fetchall() == [
            ("ask",),
            ("tell",),
            ("ask",),
            ("tell",),
            ("out",),
        ]
    shown = outside.run([*variables, python, "-c", PAGE], environment)
    assert "Radio calls" in shown
    assert "Calls by channel" in shown
