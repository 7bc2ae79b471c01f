"""A conversation as it is published, and the contexts that the authors' code finds in it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from talkhouse.ingest.corpora.mantis.context_index import contexts

AGENT = "agent"


class Conversation(NamedTuple):
    """One dialogue of a merged file."""

    key: str
    category: str
    roles: Sequence[str]
    """Who says each utterance: ``user`` or ``agent``."""
    texts: Sequence[str]

    def answers(self) -> Iterator[str]:
        """Yield what the agent says, in order."""
        return (text for role, text in zip(self.roles, self.texts, strict=True) if role == AGENT)

    def examples(self) -> Iterator["Example"]:
        """Yield every context with its response, in order."""
        for number, picked in enumerate(contexts(self.roles, range(1, len(self.texts) + 1))):
            *context, response = [self.texts[index] for index in picked]
            yield Example(self, number, context, response)


class Example(NamedTuple):
    """What is said before a response, and the response."""

    conversation: Conversation
    number: int
    """0-based position among the contexts of its dialogue."""
    context: Sequence[str]
    response: str
