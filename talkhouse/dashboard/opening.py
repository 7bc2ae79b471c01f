"""Opens the pages in the browser without telling their address to others on this machine.

Everybody sees the command lines of all processes, also that of a browser that is started with an address. So it is
started with the name of a file that nobody else can read, and that leads to the address.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

_PAGE = """<!DOCTYPE html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url={address}">
<title>Talkhouse</title>
<p><a href="{address}">Talkhouse</a></p>
"""


@contextmanager
def opened(address: str) -> Iterator[None]:
    """Open an address in the browser; the file is there until the end, for a browser that is slow."""
    from streamlit import cli_util

    # Both the folder and the file are for this user alone.
    with TemporaryDirectory(prefix="talkhouse-", ignore_cleanup_errors=True) as folder:
        page = Path(folder, "open.html")
        page.touch(mode=0o600)
        page.write_text(_PAGE.format(address=escape(address)), encoding="utf-8")
        cli_util.open_browser(page.as_uri())
        yield
