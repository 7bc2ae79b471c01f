"""Which language dialogues are in, where that is another than is declared."""

from collections.abc import Iterable
from importlib.util import find_spec
from itertools import islice

_MOST = 20_000
"""Dialogues that are looked at; of more, so many in an order that has nothing to do with them."""

_LEAST = 60
"""Characters of a dialogue whose language can be told; of letters that are syllables or words, a third."""

_SURE = 0.99
"""The least probability of the language that is named."""

_NOT_INSTALLED = "not looked at: it needs pip install 'talkhouse[languages]'"


def other_languages(dialogues: Iterable[tuple[str, str, str]]) -> tuple[list[tuple[str, None, str]], str]:
    """Return the dialogues whose words are in another language than their ISO 639-1 code says, and what was left out.

    ``dialogues``: id, declared language and text of each. A case is an id, None, and a sentence.
    """
    if find_spec("py3langid") is None:
        return [], _NOT_INSTALLED
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    rows, found = iter(dialogues), []
    for dialogue_id, declared, text in islice(rows, _MOST):
        length = sum(3 if character > "\u2e80" else 1 for character in text if character.isalpha())
        if length < _LEAST:
            continue
        language, probability = identifier.classify(text)
        if language != declared.partition("-")[0].casefold() and probability >= _SURE:
            found.append((dialogue_id, None, f"declared {declared}, looks like {language}"))
    more = next(rows, None) is not None
    return found, f"of {_MOST:,} dialogues, drawn by their ids" if more else ""
