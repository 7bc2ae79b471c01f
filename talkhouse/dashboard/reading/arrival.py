"""Brings the turn that an address names into sight: a page is drawn long after its address was opened.

The browser itself looks for a fragment before there is anything on the page, and Streamlit scrolls to its own headings
alone. So a script of one constant text does it, which the pages' Content-Security-Policy allows by its hash.
"""

from talkhouse.dashboard.text import html

SCRIPT = (
    "{const turn = document.querySelector('.turn.here');"
    " turn?.scrollIntoView({block: 'center'});"
    " turn?.focus({preventScroll: true});}"
)


def arrival_html(place: str) -> str:
    """Return what scrolls to the turn that is marked, once for each place; to be drawn after the conversation."""
    return f'<span hidden title="{html(place, lines=False)}"></span><script>{SCRIPT}</script>'
