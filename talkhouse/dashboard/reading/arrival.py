"""Brings the turn that an address names into sight: a page is drawn long after its address was opened.

The browser itself looks for a fragment before there is anything on the page, and Streamlit scrolls to its own headings
alone. So a script of one constant text does it, which the pages' Content-Security-Policy allows by its hash.
"""

from talkhouse.dashboard.text import html

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
"""What is drawn above the turn afterwards moves it, so for a moment it is followed, until somebody does something."""


def arrival_html(place: str) -> str:
    """Return what scrolls to the turn that is marked, once for each place; to be drawn after the conversation."""
    return f'<span hidden title="{html(place, lines=False)}"></span><script>{SCRIPT}</script>'
