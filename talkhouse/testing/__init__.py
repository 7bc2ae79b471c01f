"""The contract of every corpus as tests: ``contract_tests`` is the whole test file of a plugin.

    from talkhouse.testing import contract_tests

    contract_tests("film_scenes", here=__file__)

``talkhouse conform ID`` runs the same without pytest.
"""

from talkhouse.testing.pytest_tests import contract_tests

__all__ = ["contract_tests"]
