"""Frames in a temporary file without a name: nothing is left of it, not even when the process is killed."""

from tempfile import TemporaryFile

import polars as pl


class SetAside:
    """Frames on disk, by their numbers; close it."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - closed by close
        self._places: list[tuple[int, int]] = []
        self.close = self._file.close

    def add(self, frame: pl.DataFrame) -> int:
        """Write a frame, and return its number."""
        raw = frame.write_ipc(None).getbuffer()
        begin = sum(self._places[-1]) if self._places else 0
        self._file.seek(begin)
        self._file.write(raw)
        self._places.append((begin, len(raw)))
        return len(self._places) - 1

    def read(self, number: int) -> pl.DataFrame:
        """Read a frame again."""
        begin, size = self._places[number]
        self._file.seek(begin)
        return pl.read_ipc(self._file.read(size))
