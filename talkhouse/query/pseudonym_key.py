"""The key of pseudonyms: a file of random bytes that only its owner reads, and the keyed hashes that it makes."""

import stat
from base64 import b32encode
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from talkhouse.schema.errors import UsageError

_LEAST, _MOST = 32, 4096
"""Bytes of a key; a file with more is another one that was named by mistake."""

_DIGEST, _CHARACTERS = 10, 16
"""Bytes of a hash; and as many characters, in base32, without padding."""

_FOR_FINGERPRINTS = b"fingerprint of a talkhouse key"

_MAKE_ONE = "make one, and keep it apart from what you publish: (umask 077; head -c 32 /dev/urandom > KEYFILE)"


class PseudonymKey:
    """A key; its bytes are in no message, and nowhere but in this object."""

    def __init__(self, raw: bytes) -> None:
        # BLAKE2b takes keys of 64 bytes at most; as in HMAC, a longer one is hashed first.
        self._key = raw if len(raw) <= blake2b.MAX_KEY_SIZE else blake2b(raw).digest()

    @property
    def fingerprint(self) -> str:
        """16 hex digits that tell two keys apart, and nothing of either."""
        return blake2b(_FOR_FINGERPRINTS, key=self._key, digest_size=8).hexdigest()

    def hashed(self, identifiers: Iterable[tuple[str, str]]) -> list[str]:
        """Return 16 characters in place of each id: ``identifiers`` are corpora, each with an id of its own."""
        keyed = blake2b(key=self._key, digest_size=_DIGEST)
        digests = bytearray()
        for corpus_id, identifier in identifiers:
            state = keyed.copy()
            state.update(f"{corpus_id}\0{identifier}".encode())
            digests += state.digest()
        text = b32encode(digests).decode("ascii").lower()
        return [text[start : start + _CHARACTERS] for start in range(0, len(text), _CHARACTERS)]


def read_key(file: Path, output: Path) -> PseudonymKey:
    """Read a key. Raises UsageError for a file that is none, or that lies in ``output``."""
    try:
        found = file.stat()
        if not stat.S_ISREG(found.st_mode):
            raise _unfit("the key of pseudonyms is not a file", file, next_step=_MAKE_ONE)
        _check_place(file, output, found.st_mode)
        with file.open("rb") as stream:
            raw = stream.read(_MOST + 1)
    except FileNotFoundError:
        raise _unfit("there is no such key of pseudonyms", file, next_step=_MAKE_ONE) from None
    except OSError as error:
        raise _unfit("the key of pseudonyms can't be read", file, found=str(error), next_step=_MAKE_ONE) from error
    if not _LEAST <= len(raw) <= _MOST:
        found_bytes = f"{len(raw):,} bytes" if len(raw) <= _MOST else f"more than {_MOST:,} bytes"
        expected = f"{_LEAST} random bytes or more, {_MOST:,} at most"
        raise _unfit("this is no key of pseudonyms", file, expected=expected, found=found_bytes, next_step=_MAKE_ONE)
    return PseudonymKey(raw)


def _check_place(file: Path, output: Path, mode: int) -> None:
    written = output.resolve()
    if written in (file.resolve(), *file.resolve().parents):
        raise _unfit(
            "the key of pseudonyms lies in what is written",
            file,
            found=str(output),
            next_step="keep the key elsewhere: whoever has it knows who is behind a pseudonym",
        )
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise _unfit(
            "others than its owner can read or change the key of pseudonyms",
            file,
            expected="mode 600 or 400",
            found=f"mode {stat.S_IMODE(mode):o}",
            next_step=f"chmod 600 {file}",
        )


def _unfit(
    problem: str, file: Path, *, expected: str | None = None, found: str | None = None, next_step: str
) -> UsageError:
    return UsageError(problem, where=file, expected=expected, found=found, next_step=next_step)
