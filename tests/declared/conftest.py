"""Files of tests are small, and are read here as large ones are: records of one form together."""

from collections.abc import Iterator

import pytest

from talkhouse.ingest.declared.documents import document_files


@pytest.fixture(scope="package", autouse=True)
def _as_large_files() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document_files, "_LEAST", 0)
        yield
