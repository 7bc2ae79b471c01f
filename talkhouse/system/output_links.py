"""Follows the links of a path that is written to, but none that another user has put into a folder that all share."""

import os
import stat
from errno import ELOOP
from pathlib import Path

from talkhouse.schema.errors import UsageError

_MOST = 40
"""Links that are followed, as many as Linux follows."""


def target_of(output: Path) -> Path:
    """Follow links to where an output is to be; it need not be there yet.

    In a folder in which everybody may write, such as /tmp, a link counts only if it belongs to this user, or to whom
    the folder belongs: otherwise somebody else would choose which file is written or replaced. Linux has the same rule
    (fs.protected_symlinks), which does not hold for a path that is resolved before it is opened.

    Raises UsageError for such a link, OSError where a folder on the way can't be entered, or for a loop.
    """
    path = Path.cwd() / output
    target, parts, links = Path(path.anchor), list(path.parts[1:]), 0
    while parts:
        part = parts.pop(0)
        if part == "..":
            target = target.parent
        elif (target / part).is_symlink():
            links += 1
            if links > _MOST:
                raise OSError(ELOOP, os.strerror(ELOOP), str(output))
            _check_owner(target / part)
            linked = (target / part).readlink()
            target = Path(linked.anchor) if linked.is_absolute() else target
            parts = [*linked.parts[linked.is_absolute() :], *parts]
        else:
            target /= part
    return target


def _check_owner(link: Path) -> None:
    folder, owner = link.parent.stat(), link.lstat().st_uid
    if folder.st_mode & stat.S_IWOTH and owner not in (os.geteuid(), folder.st_uid):
        raise UsageError(
            "another user has put a link where this is to be written",
            where=link,
            found=f"a link to {link.readlink()}, in a folder in which everybody may write",
            next_step="name another path",
        )
