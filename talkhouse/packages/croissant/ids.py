"""Ids of nodes: names without the characters that an IRI or mlcroissant takes otherwise, each only once."""

import re


class Ids:
    """The ids of a description; a name that is taken gets ``_`` behind it."""

    def __init__(self) -> None:
        self._taken = set[str]()

    def new(self, *names: str) -> str:
        """Return an id of names, with ``/`` between them."""
        made = "/".join(map(_plain, names))
        while made in self._taken:
            made += "_"
        self._taken.add(made)
        return made


def _plain(name: str) -> str:
    """Return a name without blanks, ``:``, ``#``, quotes and the like; dots alone would be a step in a path."""
    plain = re.sub(r"[^\w.-]+", "_", name)
    return plain if plain.strip(".") else "_" * max(1, len(plain))
