"""Text that comes from files, made safe for a terminal: whatever would act on it, or hide, is written out."""

import json
import re
from typing import Any
from urllib.parse import quote

# C0 and C1 control characters, DEL, the ends of lines and paragraphs of Unicode.
_CONTROLS = "\x00-\x1f\x7f-\x9f\u2028\u2029"
# What reverses the direction of writing, has no width, or shows as a blank: a reader would not see that it is there.
_HIDDEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Half of a character: file names that are not UTF-8 have them, and no terminal takes them.
_HALVES = "\ud800-\udfff"
# Between the parts of an emoji, and after one, these two belong to it.
# Arabic to Sinhala: these scripts spell with joiners.
_EMOJI = "\u00a9\u00ae\u203c-\u3299\ufe0f\U0001f000-\U0001faff"
_LETTERS = "\u0600-\u0dff"
_JOINERS = f"(?<![{_LETTERS}])\u200c|(?<![{_LETTERS}{_EMOJI}])\u200d|(?<![#*0-9{_EMOJI}\u200d])\ufe0f"

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~:$^=&\"'@/%])")

_COMMONMARK = re.compile(r"[\\`*$~|]|\](?=[(\[:])|(?<![^\W_])_|_(?![^\W_])")
_AT_BEGIN = re.compile(r"^([ \t]*)(#{1,6}(?!\S)|>|[+-](?!\S)|[=-]+[ \t]*$)|^([ \t]*\d+)(?=[.)](?!\S))", re.MULTILINE)
"""What makes a heading, a quotation, a list or a line across where a line begins; of a number, the sign after it."""

_ADDRESS = re.compile(r"https?(?=\\:)|www(?=\\\.)|(?=\\@)", re.IGNORECASE)
WORD_JOINER = "\u2060"
"""Is not seen. Put into what begins like an address: Markdown makes links of these, escaped or not."""

_UNSAFE = re.compile(f"[{_CONTROLS}{_HIDDEN}{_HALVES}]|{_JOINERS}")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str, *, lines: bool = False) -> str:
    r"""Write what acts on a terminal or hides as Python does, ``\n``, ``\x1b``, ``\u202e``; ``lines`` keeps ends."""
    return _UNSAFE.sub(_keep_line_ends if lines else _escape, text)


def plain(text: str, *, lines: bool = False) -> str:
    """Return a text for what reads Markdown, as Streamlit and Superset do, so that it is shown as it is.

    In Streamlit labels and captions are Markdown; the options of a selectbox or multiselect are not.
    """
    escaped = _MARKDOWN.sub(r"\\\1", visible(text, lines=lines))
    return _ADDRESS.sub(lambda beginning: beginning[0] + WORD_JOINER, escaped)


def markdown(text: str, *, lines: bool = False) -> str:
    """Return a text for a file of Markdown, CommonMark's or GitHub's, so that it is shown as it is.

    Fewer signs are escaped than by ``plain``, since people also read such a file; an address in it may be a link.
    """
    escaped = _COMMONMARK.sub(r"\\\g<0>", visible(text, lines=lines))
    escaped = _AT_BEGIN.sub(lambda begin: f"{begin[1] or ''}{begin[3] or ''}\\{begin[2] or ''}", escaped)
    return escaped.replace("&", "&amp;").replace("<", "&lt;")


def address(url: str) -> str:
    """Return an address for the angle brackets of Markdown: no sign in it ends it."""
    return quote(url, safe="%/:=&?#+,;@!'()*~")


def visible_json(value: Any) -> str:
    r"""Write data as JSON that is safe to print: ``\u001b``, ``\u202e``; what reads it gets every text exactly."""
    return escaped_json(json.dumps(value, indent=2, default=str, ensure_ascii=False))


def escaped_json(text: str) -> str:
    """Escape in JSON what would act on a terminal or hide; line ends stand between its parts only."""
    return _UNSAFE.sub(lambda match: "\n" if match[0] == "\n" else json.dumps(match[0])[1:-1], text)


def _keep_line_ends(match: re.Match[str]) -> str:
    return "\n" if match[0] == "\n" else _escape(match)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    width, letter = (2, "x") if code < 0x100 else (4, "u") if code < 0x10000 else (8, "U")
    return _SHORT.get(match[0]) or f"\\{letter}{code:0{width}x}"
