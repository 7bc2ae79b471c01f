"""How a file writes its dialogues: as the publisher's code does, or as its own first one is written."""

import json
from typing import NamedTuple

from ingest.corpora.mantis.shapes import SPOKEN, Value

_WHOLE = "{}"
"""A number or digits as they are."""


class Form(NamedTuple):
    """What may differ from file to file; each is the publisher's unless it is given."""

    fields: tuple[str, ...] = ("category", "title", "dialog_time", "utterances", "has_concatenated_utterances")
    """The keys of a dialogue, in their order."""
    spoken: tuple[str, ...] = SPOKEN
    """The keys of an utterance, in their order."""
    user: str = "{}.0"
    """How a user id is written: some loaders make it a whole number."""
    votes: str = '"{}"'
    """How votes are written."""

    def user_id(self, number: float) -> Value:
        """Give a user id as it is decoded."""
        return int(number) if self.user == _WHOLE else self.user.format(int(number)).encode()


PUBLISHED = Form()


def form_of(raw: bytes) -> Form:
    """Tell how a dialogue is written; the publisher's form where its keys are others or its values are."""
    try:
        talk = json.loads(raw)
        said = talk["utterances"][0]
        user, votes = said["user_id"], said["votes"]
    except (ValueError, TypeError, LookupError, RecursionError):
        return PUBLISHED
    if {*talk} != {*PUBLISHED.fields} or {*said} != {*SPOKEN}:
        return PUBLISHED
    form = PUBLISHED._replace(fields=tuple(talk), spoken=tuple(said))
    form = form._replace(user=_WHOLE) if type(user) is int else form
    return form._replace(votes=_WHOLE) if type(votes) is int else form
