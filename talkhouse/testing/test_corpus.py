"""The tests of a corpus that lies in a folder: ``pytest --pyargs talkhouse.testing --corpus DIR``."""

from pathlib import Path

import pytest

from talkhouse.testing.contract import functions_of
from talkhouse.testing.plugin import CORPUS, chosen
from talkhouse.testing.subject import folder_of_tests

if CORPUS not in chosen:
    pytest.skip(f"name the folder of a corpus: {CORPUS} DIR", allow_module_level=True)

_folder = Path(chosen[CORPUS]).absolute()
globals().update(functions_of(_folder.name, folder_of_tests(_folder), [_folder]))
