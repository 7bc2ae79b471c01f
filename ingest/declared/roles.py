"""Roles: the words that files have, those that tables have, and what a role says of a speaker."""

from collections.abc import Mapping

from talkhouse.ingest.declared.declaration.model import Declaration

NO_ROLE = "speaker"
"""The role where a file has none."""

_SYSTEM = frozenset({"system", "developer", "tool", "function"})

KNOWN: Mapping[str, frozenset[str]] = {
    "chat": frozenset({"system", "developer", "user", "assistant", "tool", "function"}),
    "sharegpt": frozenset(
        {
            "human",
            "gpt",
            "chatgpt",
            "bing",
            "bard",
            "function_call",
            "observation",
            "system",
            "user",
            "assistant",
            "tool",
        }
    ),
}
"""The roles of formats that know a list (OpenAI's; ShareGPT's, as its readers have them)."""


class Roles:
    """The roles of one corpus, by ``[roles]``."""

    def __init__(self, declaration: Declaration) -> None:
        self._ours = declaration.roles
        self._theirs: dict[str, str] = {}
        for word, role in declaration.roles.items():
            self._theirs.setdefault(role, word)
        self._known = KNOWN.get(declaration.format)

    def ours(self, word: str) -> str:
        """Return the role that a file's word means; the word itself where nothing says so."""
        return self._ours.get(word, word)

    def theirs(self, role: str) -> str:
        """Return the file's word for a role: the first that ``[roles]`` has for it, or the role."""
        return self._theirs.get(role, role)

    def gives_back(self, word: str) -> bool:
        """Whether the role of a word is enough to write the word again."""
        return self.theirs(self.ours(word)) == word

    def is_known(self, word: str) -> bool:
        """Whether the format knows a word, or ``[roles]`` does; formats that know no list know any."""
        return self._known is None or word in self._known or word in self._ours


def speaker_kind(role: str, *, is_bot: bool | None = None) -> str:
    """Return what a speaker of this role is: bot, system or human."""
    if is_bot or role == "assistant":
        return "bot"
    return "system" if role in _SYSTEM else "human"
