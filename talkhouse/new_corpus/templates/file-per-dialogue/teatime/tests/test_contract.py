"""All contract tests of Talkhouse for this corpus."""

from talkhouse.testing import contract_tests

contract_tests("teatime", here=__file__)
