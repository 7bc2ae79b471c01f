"""Draw a page as Streamlit does, without a browser."""

import re
from html import unescape
from typing import Any

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from talkhouse.dashboard.server import APP


def draw(page: str = "", /, **parameters: object) -> AppTest:
    """Draw a page, by its name in the URL and the URL's parameters, of the warehouse that ``TALKHOUSE_DB`` names.

    Nothing may be raised on it.
    """
    test = AppTest.from_file(str(APP), default_timeout=120)
    for name, value in parameters.items():
        test.query_params[name] = str(value)
    if page:
        # A page that is no file has no other way in.
        test._page_hash = calc_hash(page)
    test.run()
    assert not test.exception
    return test


def html(page: AppTest) -> str:
    """Return the HTML of a page."""
    return "".join(element.proto.body for element in page.get("html"))


def words(fragment: str) -> str:
    """Return the visible text of HTML, with single blanks."""
    return " ".join(unescape(re.sub("<[^>]*>", " ", fragment)).split())


def messages(page: AppTest) -> list[str]:
    """Return the texts shown verbatim: commands and errors."""
    return [code.value for code in page.code]


def prepared(page: AppTest) -> Any:
    """Return the file that the page has made."""
    return page.session_state["prepared_file"]
