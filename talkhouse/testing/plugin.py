"""Pytest's options for contract tests; an entry point, so that a plugin's tests need no conftest.py."""

from collections.abc import Generator

import pytest

REGEN, CORPUS = "--regen", "--corpus"
_OPTIONS = {
    REGEN: {"action": "store_true", "help": "write golden files again instead of comparing"},
    CORPUS: {"metavar": "DIR", "help": "the folder of a corpus, for: pytest --pyargs talkhouse.testing --corpus DIR"},
}
chosen: dict[str, str] = {}
"""The folder that ``--corpus`` names, while pytest runs."""


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(parser: pytest.Parser) -> Generator[None, None, None]:
    """Add the options last: a project whose own conftest.py has one of the same name keeps it."""
    yield
    group = parser.getgroup("talkhouse")
    for name, how in _OPTIONS.items():
        try:
            group.addoption(name, **how)
        except ValueError:
            continue


def pytest_configure(config: pytest.Config) -> None:
    """Note which corpus the tests are to try."""
    folder = config.getoption(CORPUS, None)
    if isinstance(folder, str):
        chosen[CORPUS] = folder
