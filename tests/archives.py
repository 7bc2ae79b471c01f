"""Archives of invented members: .zip, .tar.gz and .7z, as bytes."""

import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import py7zr

Members = Mapping[str, bytes]


def zipped(members: Members, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target.getvalue()


def tarred(members: Members, mode: str = "w:gz") -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return target.getvalue()


def seven_zipped(members: Members, *, has_plain_header: bool = False, **how: Any) -> bytes:
    target = io.BytesIO()
    with py7zr.SevenZipFile(target, "w", **how) as archive:
        archive.set_encoded_header_mode(not has_plain_header)
        for name, content in members.items():
            archive.writestr(content, name)
    return target.getvalue()


PACKERS: dict[str, Callable[..., bytes]] = {".zip": zipped, ".tar.gz": tarred, ".7z": seven_zipped}
"""Ending -> what packs members so."""
