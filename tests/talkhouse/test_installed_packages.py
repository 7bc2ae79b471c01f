"""The list of licences: every package that is needed here, by extra, with what it says of itself."""

import json
import re
from pathlib import Path

import pytest

from talkhouse import installed_packages as installed
from talkhouse.installed_packages import NOT_STATED, Package, packages
from tests.commands import run

README = Path(__file__).parents[2] / "README.md"


def add(folder: Path, name: str, *lines: str) -> None:
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    text = "\n".join(["Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0", *lines])
    (info / "METADATA").write_text(f"{text}\n\nWhat it is.\n", encoding="utf-8")


def test_extras_and_what_they_need_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(
        tmp_path,
        "talkhouse",
        "Provides-Extra: tea",
        "Provides-Extra: cake",
        "Requires-Dist: always",
        "Requires-Dist: elsewhere; sys_platform == 'nowhere'",
        "Requires-Dist: always[sugar]; extra == 'tea'",
        "Requires-Dist: Kettle_Whistle; extra == 'tea'",
        "Requires-Dist: kettle.whistle; extra == 'cake'",
        "Requires-Dist: gone>=2; extra == 'cake'",
    )
    add(tmp_path, "always", "License: MIT", "Provides-Extra: sugar", "Requires-Dist: beet; extra == 'sugar'")
    add(tmp_path, "beet", "License-Expression: LGPL-2.1-or-later", "Requires-Dist: always", "Requires-Dist: talkhouse")
    add(
        tmp_path,
        "kettle_whistle",
        "License: All of the text",
        "  of a licence.",
        "Classifier: License :: OSI Approved :: X",
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert packages() == [
        Package("always", (), "1.0", "MIT"),
        Package("gone", ("cake",), None, None),
        Package("beet", ("tea",), "1.0", "LGPL-2.1-or-later"),
        Package("kettle-whistle", ("tea", "cake"), "1.0", "X"),
    ]
    add(tmp_path, "gone", "Classifier: Topic :: Database")
    assert next(package for package in packages() if package.name == "gone").licence == NOT_STATED


def test_every_package_states_its_licence_and_the_readme_names_the_copyleft_ones() -> None:
    done = run("licences", "--json")
    found = [Package(**{**package, "extras": tuple(package["extras"])}) for package in json.loads(done.stdout)]
    assert found == installed.packages()
    assert {package.licence for package in found} & {NOT_STATED, ""} == set()
    (sentence,) = re.findall(r"under the\s+LGPL: (.*?)\.\n", README.read_text(encoding="utf-8"), re.DOTALL)
    extras = {package.extras for package in found if "GPL" in (package.licence or "")}
    assert extras <= {("make",), ("postgres",)}
    named = set(re.findall(r"`([\w-]+)`", sentence))
    there = {package.name for package in found if package.version and "GPL" in (package.licence or "")}
    assert there == named - set(sum(extras, ()))
