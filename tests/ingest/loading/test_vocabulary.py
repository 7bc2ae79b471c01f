"""What a licence's SPDX identifiers say that it asks."""

import pytest
from packaging.licenses import canonicalize_license_expression

from talkhouse.ingest.loading.vocabulary import terms_of

ATTRIBUTION, SHARE_ALIKE, NON_COMMERCIAL, UNKNOWN = "attribution", "share_alike", "non_commercial", "unknown"


@pytest.mark.parametrize(
    ("licence", "asked"),
    [
        ("MIT", {ATTRIBUTION}),
        ("Apache-2.0", {ATTRIBUTION}),
        ("CC-BY-4.0", {ATTRIBUTION}),
        ("CC0-1.0", set()),
        ("CC-BY-SA-3.0", {ATTRIBUTION, SHARE_ALIKE}),
        ("GPL-3.0-or-later", {ATTRIBUTION, SHARE_ALIKE}),
        ("ODbL-1.0", {ATTRIBUTION, SHARE_ALIKE}),
        ("CC-BY-NC-4.0", {ATTRIBUTION, NON_COMMERCIAL}),
        ("CC-BY-NC-ND-4.0", {ATTRIBUTION, NON_COMMERCIAL}),
        ("CC-BY-NC-SA-4.0", {ATTRIBUTION, NON_COMMERCIAL, SHARE_ALIKE}),
        ("LicenseRef-ours", {ATTRIBUTION, UNKNOWN}),
        ("CC-BY-4.0 AND LicenseRef-ours", {ATTRIBUTION, UNKNOWN}),
        ("(CC0-1.0 OR CC-BY-SA-4.0) AND CC-BY-NC-4.0", {ATTRIBUTION, NON_COMMERCIAL, SHARE_ALIKE}),
    ],
)
def test_an_identifier_says_what_is_asked(licence: str, asked: set[str]) -> None:
    for written in (licence, licence.lower().replace(" and ", " AND ").replace(" or ", " OR ")):
        (terms,) = terms_of(written)
        flags = (ATTRIBUTION, SHARE_ALIKE, NON_COMMERCIAL, UNKNOWN)
        assert {flag for flag in flags if getattr(terms, f"is_{flag}")} == asked
        assert (terms.part, terms.columns) == ("all", ())
        # What SPDX does not know is as it was written.
        assert terms.spdx == canonicalize_license_expression(written)


@pytest.mark.parametrize(
    ("licence", "address"),
    [
        ("cc-by-4.0", "https://spdx.org/licenses/CC-BY-4.0.html"),
        ("Apache-2.0+", "https://spdx.org/licenses/Apache-2.0.html"),
        ("LicenseRef-ours", None),
        ("MIT OR Apache-2.0", None),
    ],
)
def test_one_licence_that_spdx_knows_has_its_address(licence: str, address: str | None) -> None:
    assert [terms.licence_url for terms in terms_of(licence)] == [address]


@pytest.mark.parametrize("licence", ["", "none", "not stated", "CC BY 4.0", "MIT, that of the repository", "MIT AND"])
def test_other_words_say_nothing(licence: str) -> None:
    assert terms_of(licence) == ()


def test_what_may_not_be_changed_is_noted() -> None:
    assert [terms.note for terms in terms_of("CC-BY-ND-4.0")] == ["Nothing made of it may be passed on."]
