"""Root without the rights that only root has, for tests of what may not be read, written or entered.

Who drops them stays the owner of its files, so that the folders above the tests and above the checkout can be entered.
"""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

_DAC_OVERRIDE, _DAC_READ_SEARCH = 1, 2
"""The rights to read, write and enter whatever its mode says, by their numbers in capabilities(7)."""

_VERSION = 0x2008_0522
"""Of the structures that capget(2) and capset(2) take: two words for each set."""


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Word(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def drop() -> None:
    """Drop them in this thread, and in those that it starts; ``run(..., before=drop)`` is a command without them."""
    if sys.platform != "linux":
        return
    words = _words()
    words[0].effective &= ~(1 << _DAC_OVERRIDE | 1 << _DAC_READ_SEARCH)
    _set(words)


@contextmanager
def dropped() -> Iterator[None]:
    """Drop them for a while; they stay permitted, so that they can be had again."""
    if sys.platform != "linux":
        if os.geteuid() == 0:
            pytest.skip("root may do everything on this system: run it as another user")
        yield
        return
    before = _words()
    drop()
    try:
        yield
    finally:
        _set(before)


def _words() -> "ctypes.Array[_Word]":
    words = (_Word * 2)()
    _call("capget", words)
    return words


def _set(words: "ctypes.Array[_Word]") -> None:
    _call("capset", words)


def _call(name: str, words: "ctypes.Array[_Word]") -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(ctypes.byref(_Header(_VERSION, 0)), words):
        raise OSError(ctypes.get_errno(), name)
