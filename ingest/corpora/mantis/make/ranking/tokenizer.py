r"""The tokens that responses are compared by: words of letters and digits in lower case, without stop words.

The ranges are written out, since each release of Python knows more letters than the one before: with ``\w`` the same
text would have other tokens there.
"""

import re

TOKENIZER = "words of letters and digits, 1"
"""Name and version, for manifests; a change of the words or of the ranges makes another version."""

_ENGLISH = """
a about after all also am an and any are as at be because been but by can could did do does don for from get had has
have he her here his how i if in into is it its just like ll m me more my no not of on one only or other our out re s
she should so some such t than that the their them then there these they this those to too up us use ve very was we were
what when where which while who why will with would you your
"""

_MARKUP = "blockquote br code href http https nofollow noreferrer pre rel www"
"""What is left of tags and links."""

STOP_WORDS = frozenset(f"{_ENGLISH} {_MARKUP}".split())
"""Words that say nothing of a topic."""

_WORD = re.compile(
    "[0-9a-z"
    "\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff"  # Latin, Greek ... without signs
    "\u2c00-\u2dff\u3040-\ud7ff\uf900-\ufdff\ufe70-\ufefc\uff10-\uff19\uff21-\uff3a\uff41-\uffdc"
    "\U00010000-\U0001cfff\U00020000-\U000dffff]+"  # without the block of music, emoji and other symbols
)


def tokens(text: str) -> list[str]:
    """List the tokens of a text in order, repeated ones too."""
    return [word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]
