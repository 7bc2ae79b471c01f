"""Pages without a browser, by Streamlit's own test harness."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from talkhouse.dashboard.server import APP

Visit = Callable[..., AppTest]


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch) -> Visit:
    """Open a page, by its name in the URL and the URL's parameters, on a warehouse."""

    def opened(warehouse: Path, page: str = "", **parameters: str) -> AppTest:
        monkeypatch.setenv("TALKHOUSE_DB", str(warehouse))
        test = AppTest.from_file(str(APP), default_timeout=120)
        for name, value in parameters.items():
            test.query_params[name] = value
        if page:
            # A page that is no file has no other way in.
            test._page_hash = calc_hash(page)
        return test.run()

    return opened
