"""The bytes of a file of hundreds of megabytes, in memory that is freed while the file is worked through."""

import mmap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import IO

_PIECE = 4_000_000
"""Bytes that are read at once."""


class FileBuffer:
    """All bytes of a file, read once, so that nobody can change them; ``release`` frees what is no longer needed.

    ``view`` is of the bytes; ``SourceFile.hold`` leaves a byte order mark out of it.
    """

    def __init__(self, stream: IO[bytes], size: int, update: Callable[[memoryview], object]) -> None:
        """Read ``size`` bytes; ``update``, of a hash for instance, gets each piece while the next one is read.

        Raises EOFError where there are fewer.
        """
        self._memory = mmap.mmap(-1, max(size, 1))
        self.view = memoryview(self._memory)[:size]
        filled = 0
        with ThreadPoolExecutor(max_workers=1) as thread:
            while filled < size:
                count = stream.readinto(self.view[filled : filled + _PIECE])  # type: ignore[attr-defined]
                if not count:
                    raise EOFError(f"the file ends after {filled:,} of {size:,} bytes")
                updated = thread.submit(update, self.view[filled : filled + count])
                filled += count
            if size:
                updated.result()

    def release(self, end: int) -> None:
        """Free the memory before ``end``; what is read there from now on is zeros."""
        whole = end // mmap.PAGESIZE * mmap.PAGESIZE
        if whole and hasattr(mmap, "MADV_DONTNEED"):
            self._memory.madvise(mmap.MADV_DONTNEED, 0, whole)
