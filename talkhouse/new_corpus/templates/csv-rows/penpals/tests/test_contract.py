"""All contract tests of Talkhouse for this corpus."""

from talkhouse.testing import contract_tests

contract_tests("penpals", here=__file__)
