"""The contract of every corpus, as tests of pytest and as a command; a plugin's whole test file is this.

    from talkhouse.testing import contract_tests

    contract_tests("film_scenes", here=__file__)

``golden/<case>/raw``, ``broken/<rule>/raw`` and ``clauses.py`` next to that file are tried too.
"""

import inspect
from pathlib import Path


def contract_tests(corpus_id: str, *, here: str | Path) -> None:
    """Add a test for each check of the contract to the module that calls this; ``here`` is its ``__file__``.

    The corpus is that of an installed package, of the folder that has the tests, of $TALKHOUSE_CORPORA, or one of
    Talkhouse's own. Raises RegistryError where there is none of this id, or where it is broken.
    """
    from talkhouse.testing.contract import functions_of

    caller = inspect.currentframe()
    if caller is None or caller.f_back is None:
        raise RuntimeError("this Python does not say who calls")
    caller.f_back.f_globals.update(functions_of(corpus_id, Path(here).parent, ()))
