"""The Content-Security-Policy of the pages: nothing from elsewhere, and nothing to elsewhere."""

import re
from pathlib import Path

from talkhouse.content_policy import source
from talkhouse.dashboard.reading.arrival import SCRIPT
from talkhouse.dashboard.streamlit_options import NAMES

_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def pages_policy(port: int) -> str:
    """Return the policy for the pages that Streamlit draws; its own inline scripts are allowed by their hashes.

    So is ours, which scrolls to a turn.
    Styles may be inline: Streamlit sets them so. A browser that does not take websockets for a part of 'self' finds
    them named.
    """
    from streamlit import file_util

    page = Path(file_util.get_static_dir(), "index.html").read_text(encoding="utf-8")
    scripts = " ".join(source(script) for script in (*_INLINE.findall(page), SCRIPT))
    sockets = " ".join(f"ws://{name}:{port}" for name in NAMES)
    return (
        "default-src 'none'; "
        f"script-src 'self' {scripts}; "
        "style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; "
        "font-src 'self' data:; "
        f"connect-src 'self' {sockets}; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
