"""URLs that are none: each is told to be so, without a traceback, and without the password."""

import random

import pytest

from talkhouse.postgres.server import connected
from talkhouse.schema.errors import ServerFailed, TalkhouseError, UsageError

PASSWORD = "s3cr3t-w0rd"  # noqa: S105

ODD = (
    *("", "\0", "postgresql:", "postgresql://[", "postgresql://]", "postgresql://[::1", "postgresql://%"),
    *("postgresql://%00", "postgresql://\udc80/d", "postgresql://h/d\0", "postgresql://\u2100/d", "postgresql://h\n/d"),
    *("postgresql://a..b/d", f"postgresql://{'a' * 70}/d", "postgresql://h/d?x", "postgresql://h/d?connect_timeout=x"),
    "postgresql://?host=%00",
)


def refused(url: str) -> TalkhouseError:
    with pytest.raises(TalkhouseError) as failed, connected(url):
        pass
    return failed.value


def test_what_is_no_url_is_said_to_be_none() -> None:
    for url in ODD:
        error = refused(url)
        assert isinstance(error, UsageError), url
        assert error.expected, url
    for url in (
        "postgresql://u:p@127.0.0.1:notaport/d",
        "postgresql://127.0.0.1:0/d",
        "postgresql://?port=x&host=/nowhere",
    ):
        assert isinstance(refused(url), ServerFailed | UsageError), url


@pytest.mark.slow
def test_a_damaged_url_gives_no_traceback_and_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "2")
    chance = random.Random(28)  # noqa: S311
    before, behind = f"postgresql://u:{PASSWORD}@", "/d?host=/nowhere&port=1&sslmode=disable"
    for _ in range(500):
        damaged = list(behind)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.choice("[]@:/?#%&=,.\0\n \\'a1é\u202e\udc80;{}")
        assert PASSWORD not in str(refused(before + "".join(damaged))), damaged
