"""How much the texts of a Parquet page take of which it has only what differs from the one before."""

from pyarrow import lib as pa

from talkhouse.ingest.declared.record_files.compact_thrift import signed, varint

ENCODING = 7
"""DELTA_BYTE_ARRAY in parquet.thrift."""

_CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4"}
"""Those of parquet.thrift that pyarrow unpacks by itself."""
_LARGEST_BLOCK = 65_536
"""Values in a block; writers have 128."""


def prefix_bytes(page: bytes, codec: int, size: int, levels: int, most: int) -> int:
    """Return how many bytes the texts of a page have in common with those before, at least where these are > ``most``.

    ``size``: its bytes when it is unpacked; ``levels``: how many lists of levels it begins with, each behind its
    length. Raises ValueError or IndexError for a page that can't be read.
    """
    raw = unpacked(page, codec, size)
    at = 0
    for _ in range(levels):
        at += 4 + int.from_bytes(raw[at : at + 4], "little")
    return _sum(raw, at, most)


def unpacked(page: bytes, codec: int, size: int) -> bytes:
    """Unpack a page; ValueError for one that can't be."""
    if codec == 0:
        return page
    if codec not in _CODECS:
        raise ValueError(f"the codec {codec} is not known")
    try:
        raw: bytes = pa.decompress(page, decompressed_size=size, codec=_CODECS[codec], asbytes=True)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(str(error)) from error
    return raw


def _sum(raw: bytes, at: int, most: int) -> int:
    """Add up numbers of which each is the one before, the least difference of its block, and some bits."""
    in_block, at = varint(raw, at)
    parts, at = varint(raw, at)
    left, at = varint(raw, at)
    number, at = varint(raw, at)
    if not 0 < parts <= in_block <= _LARGEST_BLOCK:
        raise ValueError(f"{in_block:,} values in a block of {parts:,} parts")
    total = value = signed(number)
    left, in_part = left - 1, in_block // parts
    while left > 0 and total <= most:
        number, at = varint(raw, at)
        least, widths = signed(number), raw[at : at + parts]
        if len(widths) < parts:
            raise IndexError("cut off")
        at += parts
        for width in widths:
            count = min(in_part, left)
            size = in_part * width // 8
            bits = int.from_bytes(raw[at : at + size], "little") if count > 0 else 0
            at += size if count > 0 else 0
            for place in range(count):
                value += least + (bits >> place * width & (1 << width) - 1)
                total += value
            left -= count
    return total
