"""What a licence asks of its user, as far as its SPDX identifiers say it."""

import re

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from talkhouse.ingest.corpus import LicenceTerms

_PUBLIC_DOMAIN = frozenset({"0BSD", "CC-PDDC", "CC0-1.0", "MIT-0", "PDDL-1.0", "Unlicense", "WTFPL"})
_SHARE_ALIKE = re.compile(r"CC-BY(-NC)?-SA-|A?GPL-|LGPL-|ODbL-|CDLA-Sharing-|GFDL-|MPL-|EUPL-|OSL-")
_NON_COMMERCIAL = re.compile(r"CC-BY-NC|PolyForm-Noncommercial")
_NO_DERIVATIVES = re.compile(r"CC-BY(-NC)?-ND-")
_OF_ITS_OWN = "LicenseRef-"
"""How a licence begins that SPDX does not know."""


def terms_of(licence: str) -> tuple[LicenceTerms, ...]:
    """Return what a licence asks; nothing where it is no expression of SPDX identifiers.

    Of an expression, all that one of its licences asks: also where ``OR`` leaves the choice to the user.
    """
    try:
        expression = str(canonicalize_license_expression(licence))
    except InvalidLicenseExpression:
        return ()
    names = [name for name in re.split(r"[\s()]+", expression) if name not in ("", "AND", "OR", "WITH")]
    return (
        LicenceTerms(
            spdx=expression,
            licence_url=_address(expression) if names == [expression] else None,
            is_attribution=any(name not in _PUBLIC_DOMAIN for name in names),
            is_share_alike=any(_SHARE_ALIKE.match(name) for name in names),
            is_non_commercial=any(_NON_COMMERCIAL.match(name) for name in names),
            is_unknown=any(name.startswith(_OF_ITS_OWN) for name in names),
            note="Nothing made of it may be passed on." if any(map(_NO_DERIVATIVES.match, names)) else "",
        ),
    )


def _address(name: str) -> str | None:
    return None if name.startswith(_OF_ITS_OWN) else f"https://spdx.org/licenses/{name.removesuffix('+')}.html"
