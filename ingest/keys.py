"""Keys that tell apart what publishers give one name: same content, same key; other content, ``~`` and a hash."""

from hashlib import blake2b


def digest(*parts: str | bytes) -> bytes:
    """Hash an ordered list of texts, or of their bytes in UTF-8, to 16 bytes.

    Lengths are hashed too, so that no two lists run together.
    """
    raws = [part if isinstance(part, bytes) else part.encode() for part in parts]
    return blake2b(b"".join([len(raw).to_bytes(8, "big") + raw for raw in raws]), digest_size=16).digest()


def digest_of(raw: bytes | bytearray) -> bytes:
    """Hash one text in UTF-8, as ``digest`` does; for texts by the million."""
    return blake2b(len(raw).to_bytes(8, "big") + raw, digest_size=16).digest()


class Keys:
    """Natural keys that were assigned, with a hash of the content behind each; texts are not kept."""

    def __init__(self) -> None:
        self._content: dict[str, bytes] = {}

    def assign(self, natural: str, content: bytes) -> tuple[str, bool]:
        """Return the key of this content, and whether it is new.

        The first content under a natural key keeps it plain; another gets ``~`` and 8 hex digits of its hash,
        or more where these 8 are taken.
        """
        key, digits = natural, 8
        while key in self._content:
            if self._content[key] == content:
                return key, False
            key, digits = f"{natural}~{content.hex()[:digits]}", digits + 8
        self._content[key] = content
        return key, True

    def has(self, key: str) -> bool:
        """Return whether a key was assigned."""
        return key in self._content

    def content(self, key: str) -> bytes:
        """Return the hash of the content behind a key that was assigned."""
        return self._content[key]
