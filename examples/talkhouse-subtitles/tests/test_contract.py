"""All contract tests of Talkhouse for this corpus."""

from talkhouse.testing import contract_tests

contract_tests("subtitles", here=__file__)
