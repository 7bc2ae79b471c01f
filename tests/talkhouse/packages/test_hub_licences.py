"""Licences by the ids of the Hugging Face Hub."""

import pytest

from talkhouse.packages.huggingface import hub_licences
from talkhouse.query.terms import Part
from tests.samples import PICTURES


def part(spdx: str | None) -> Part:
    return Part("toy", "all", spdx, None, True, False, False, spdx is None, "")


@pytest.mark.parametrize(
    ("licences", "ids"),
    [
        (["MIT", "CC-BY-SA-4.0"], ["mit", "cc-by-sa-4.0"]),
        (["Apache-2.0"], ["apache-2.0"]),
        (["CC-BY-SA-2.5", "CC-BY-SA-3.0", "CC-BY-SA-4.0"], ["cc-by-sa-3.0", "cc-by-sa-4.0", "other"]),
        ([f"CC-BY-4.0 AND LicenseRef-{PICTURES}-non-commercial-research"], ["other"]),
        (["CC-BY-4.0", "CC-BY-4.0", "CC0-1.0 OR (MIT AND CC-BY-4.0)"], ["cc-by-4.0", "cc0-1.0", "mit"]),
        (["GPL-3.0-or-later", "LGPL-2.1-only", "ODbL-1.0"], ["gpl-3.0", "lgpl-2.1", "odbl"]),
        (["GPL-2.0-only WITH Classpath-exception-2.0"], ["other"]),
        ([None], ["other"]),
        ([], []),
    ],
)
def test_the_hub_has_its_own_ids(licences: list[str | None], ids: list[str]) -> None:
    assert hub_licences(map(part, licences)) == ids
