"""Draw a page as Streamlit does, without a browser."""

from typing import Any

from streamlit.testing.v1 import AppTest


def draw(module: str, **query: object) -> AppTest:
    """Draw a page of the warehouse that ``TALKHOUSE_DB`` names, under an address with these query parameters."""
    page = AppTest.from_function(_page, kwargs={"module": module}, default_timeout=120)
    for name, value in query.items():
        page.query_params[name] = str(value)
    return page.run()


def _page(module: str) -> None:
    from importlib import import_module

    from talkhouse.dashboard import errors

    with errors.shown():
        import_module(f"talkhouse.dashboard.content.{module}").page()


def html(page: AppTest) -> str:
    """Return what the page has as HTML."""
    return "".join(element.proto.body for element in page.get("html"))


def messages(page: AppTest) -> list[str]:
    """Return what is shown as it is: commands, and what went wrong."""
    return [code.value for code in page.code]


def prepared(page: AppTest) -> Any:
    """Return the file that the page has made."""
    return page.session_state["prepared_file"]
