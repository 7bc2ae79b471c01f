"""What is kept in the user's cache folder, and what came with the code."""

from pathlib import Path

import pytest

from talkhouse.system import cache
from talkhouse.system.cache import Cache


def test_what_is_kept_is_read_before_what_came_with_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "SHIPPED", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    views = Cache("views", ".bin", most=2)
    (tmp_path / "views-key.bin").write_bytes(b"our views")
    assert views.read("key") == b"our views"
    views.keep(b"our views and theirs", "key")
    assert views.read("key") == b"our views and theirs"
    assert views.read("another key") is None
