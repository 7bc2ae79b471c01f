"""Every file of the bundle is what Superset's own import takes; no server is needed to know."""

import json
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.talkhouse.superset.conftest import Contents
from tests.talkhouse.superset.server import Superset

SCRIPT = Path(__file__).parent / "load_bundle.py"


@pytest.mark.slow
def test_superset_takes_every_file(superset: Superset, bundle: Path, contents: Contents, tmp_path: Path) -> None:
    broken = tmp_path / "broken.zip"
    with ZipFile(broken, "w") as archive:
        for name, text in contents.texts.items():
            archive.writestr(name, text + "colour: blue\n" if "charts/overview_01" in name else text)
    found = json.loads(superset.command(["python", SCRIPT, bundle, broken]).splitlines()[-1])
    assert found[str(bundle)]["wrong"] == {}
    files = {name.partition("/")[2] for name in contents.texts} - {"metadata.yaml"}
    assert set(found[str(bundle)]["files"]) == files
    assert set(found[str(broken)]["files"]) == files - {"charts/overview_01.yaml"}
    assert found[str(broken)]["wrong"] == {"charts/overview_01.yaml": {"colour": ["Unknown field."]}}
