"""Which bot a dialogue is with: a fixed table of families, since the same bot goes under several folder names."""

import re
from typing import NamedTuple


class Family(NamedTuple):
    """A family of bots: its name, its language, and patterns of dialogue ids and of subsets, lower case."""

    name: str
    language: str
    ids: str
    subsets: str


# TKTK_100 and json_data_100 are the same bot, and DCM's is that of the chat dialogue corpus. Japanese dialogue ids are
# bare numbers.
FAMILIES = (
    Family("IRIS", "en", r"iris_\d+", r"iris(_.*|\d.*)?"),
    Family("TickTock", "en", r"(ticktock|tktk)_?\d+", r"(tktk|ticktock)(_.*|\d.*)?|json_data_100"),
    Family("CIC", "en", r"cic\d+", r"cic(_.*|\d.*)?"),
    Family("YI", "en", r"yit?\d+", r"yi(_.*|\d.*)?"),
    Family("DCM", "ja", r"", r"dcm(_.*|\d.*)?|init100|rest1046"),
    Family("DIT", "ja", r"", r"dit(_.*|\d.*)?"),
    Family("IRS", "ja", r"", r"irs(_.*|\d.*)?"),
)


def family(dialogue_id: str, subset: str | None) -> Family | None:
    """Find the family of bots that a dialogue is with in the fixed table; None where it is none of them."""
    by_id = (one for one in FAMILIES if re.fullmatch(one.ids, dialogue_id.lower()))
    by_subset = (one for one in FAMILIES if re.fullmatch(one.subsets, (subset or "").lower()))
    return next(by_id, None) or next(by_subset, None)
