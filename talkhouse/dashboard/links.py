"""Addresses of pages, relative to one another, and the script that scrolls to the turn that an address names."""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from talkhouse.dashboard.guard import PARAMETER
from talkhouse.dashboard.text import html
from talkhouse.escaping import visible


def read(
    dialogue_id: str | None = None,
    turn_index: int | None = None,
    *,
    record_id: str | None = None,
    **facets: str | Sequence[str],
) -> str:
    """Return the address of a conversation, or of the record that published it, at a turn; of none, of the list.

    ``facets`` are those of the list, such as ``corpus`` and ``label``, each with one value or several.
    """
    place = {"dialogue": dialogue_id, "record": record_id, "turn": turn_index, **facets}
    return _address("read", {name: value for name, value in place.items() if value is not None})


def tasks(task: str, **choices: str | int) -> str:
    """Return the address of the examples of a task (its view in full); ``choices`` as its page has them."""
    chosen = {name: visible(value) if isinstance(value, str) else value for name, value in choices.items()}
    return _address("tasks", {"task": task, **chosen})


def errors(**choices: str | Sequence[str]) -> str:
    """Return the address of the errors of systems; ``choices`` as its page has them."""
    return _address("errors", choices)


def sql(query: str) -> str:
    """Return the address of the console with a query, which runs when the reader starts it."""
    return _address("sql", {"query": query})


def search(**choices: str | int | Sequence[str]) -> str:
    """Return the address of a search by words; ``choices`` as its page has them."""
    return _address("search", choices)


def state(page: str, choices: Mapping[str, Sequence[str]]) -> str:
    """Return the address of a page, of Home for the empty name; ``choices`` as the page has them."""
    return _address(page or "./", {name: values for name, values in choices.items() if values})


def corpus(corpus_id: str) -> str:
    """Return the address of the page of a corpus: its id, unless another page has that name."""
    return page(corpus_id if is_free(corpus_id) else f"corpus_{corpus_id}")


def page(name: str) -> str:
    """Return the address of a page that is named by a warehouse, whatever the name has in it."""
    return re.sub(r"[^a-z0-9_]", "_", name)


def quality(rule: str) -> str:
    """Return the address of the findings of a rule."""
    return _address("quality", {"rule": visible(rule)})


token: str | None = None
"""The token for the pages that this process serves; None: none is needed."""


def shared(here: str, parameters: Mapping[str, Sequence[str]], *, with_token: bool) -> str:
    """Return the full address of the open page: for a browser with the cookie, or with the token."""
    query = {**parameters, **({PARAMETER: [token]} if with_token and token else {})}
    return f"{here}?{urlencode(query, doseq=True)}" if query else here


def is_free(name: str) -> bool:
    """Whether a corpus or a dashboard may have this name as its address."""
    return name not in _PAGES


_PAGES = {
    *("home", "read", "search", "tasks", "quality", "profile", "ask", "sql"),
    *("about", "scores", "errors", "notes", "bookmarks", "overview"),
}
"""Pages that are of no corpus."""


def _address(page: str, parameters: Mapping[str, str | int | Sequence[str]]) -> str:
    return f"{page}?{urlencode(parameters, doseq=True)}" if parameters else page


SCRIPT = (
    "{const turn = document.querySelector('.turn.here');"
    " const page = document.querySelector('[data-testid=stMainBlockContainer]');"
    " if (turn && page) {"
    " const grown = new ResizeObserver(() => turn.scrollIntoView({block: 'center'}));"
    " const leave = () => grown.disconnect();"
    " turn.scrollIntoView({block: 'center'});"
    " turn.focus({preventScroll: true});"
    " grown.observe(page);"
    " for (const act of ['wheel', 'keydown', 'pointerdown']) addEventListener(act, leave, {once: true});"
    " setTimeout(leave, 3000);}}"
)
"""Elements drawn above the turn later move it, so it is followed for a moment, until the user does something."""


def arrival_html(place: str) -> str:
    """Return a script that scrolls to the marked turn, once for each place; to be drawn after the conversation."""
    return f'<span hidden title="{html(place, lines=False)}"></span><script>{SCRIPT}</script>'
