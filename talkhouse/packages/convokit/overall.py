"""What is said of the corpus as a whole: build, corpus, counts, and what ConvoKit has no place for."""

from typing import Any

from talkhouse.packages.convokit.labels import Level
from talkhouse.packages.convokit.plan import CorpusPackage
from talkhouse.packages.convokit.tables import Tables
from talkhouse.query.manifest import of_build
from talkhouse.query.terms import with_terms

_ORDER = "the turn before it"
_PUBLISHED = "the published turn where all turns of the conversation are one tree by that, else the turn before it"


def overall(package: CorpusPackage, counts: dict[str, int], silent_speakers: int) -> dict[str, Any]:
    """Return the metadata of the corpus, as ``corpus.json`` has them; none of them is null."""
    tables = package.tables
    (corpus,) = with_terms(package.corpora, package.parts)
    return {
        "talkhouse": of_build(package.warehouse),
        "corpus": corpus,
        "counts": counts,
        "silent_speakers": silent_speakers,
        "reply_to": _PUBLISHED if tables.has["turns.reply_to"] else _ORDER,
        "left_out": _left_out(tables),
        **({"pseudonyms": package.pseudonyms} if package.pseudonyms else {}),
    }


def _left_out(tables: Tables) -> dict[str, int]:
    """Count the rows that no conversation, speaker or utterance has."""
    speakers = f"select speaker_id from {tables.rows('turns')} where speaker_id is not null"
    used = f"select persona_id from {tables.rows('persona_uses', 'dialogue_id is not null')}"
    turns = f"select dialogue_id from {tables.rows('turns')}"
    con = tables.warehouse.con
    persons = f"""
    select count(*) from {tables.rows("personas")}
    where coalesce(speaker_id not in ({speakers}), true) and persona_id not in ({used})
    """
    ((personas,),) = con.execute(persons).fetchall()
    ((dialogues,),) = con.execute(
        f"select count(*) from {tables.rows('dialogues')} where dialogue_id not in ({turns})"
    ).fetchall()
    return {
        "candidates": tables.count("candidates"),
        "dialogues": dialogues,
        "labels": tables.count("annotations", Level.NONE),
        "personas": personas,
        "records": tables.count("records", "dialogue_id is null"),
        "images": tables.count("images"),
    }
