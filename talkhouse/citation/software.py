"""How Talkhouse itself is cited, with the build that made a warehouse."""

from collections.abc import Mapping
from typing import Any

from talkhouse.citation.work import Citation

TITLE = "Talkhouse: a SQL warehouse of dialogue corpora"
AUTHOR = "The Talkhouse maintainers"


def software(build: Mapping[str, Any]) -> Citation:
    """Return the citation of the Talkhouse that made a build.

    ``build``: talkhouse_version, schema_revision, finished_at, catalogue_hash, and sources_hash in so far as they are
    known.
    """
    facts = {
        "Schema revision": str(build.get("schema_revision") or ""),
        "build of": str(build.get("finished_at") or "")[:10],
        "sources": str(build.get("sources_hash") or "")[:12],
        "views": str(build.get("catalogue_hash") or "")[:12],
    }
    known = ", ".join(f"{name} {fact}" for name, fact in facts.items() if fact)
    name, _, what = TITLE.partition(":")
    return Citation(
        corpus_id="talkhouse",
        title=TITLE,
        authors=((AUTHOR, ""),),
        year=None,
        reference={"kind": "software", "title": TITLE},
        text=f"{name} {build['talkhouse_version']}:{what}. {known}.",
        homepage="",
        licence="Apache-2.0",
    )
