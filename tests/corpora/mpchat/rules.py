"""The rules of MPChat's three tasks in plain Python, from their description; no code is shared with the reader."""

from typing import Any

Talk = dict[str, Any]
LIMIT = 100


def context(talk: Talk, turn: int) -> str:
    """Give the messages before a turn, joined by single blanks."""
    return " ".join(talk["messages"][:turn])


def image(talk: Talk) -> str:
    return talk["file_name"] if talk["has_image"] else ""


def text(elements: list[Talk]) -> str:
    return " ".join(element["title"] for element in elements)


def pictures(elements: list[Talk]) -> list[str]:
    return [element["file_name"] for element in elements]


def responses(talk: Talk, split: str) -> list[tuple[Any, ...]]:
    """Next response prediction: every turn of the main author that the authors' code would not refuse."""
    found: list[tuple[Any, ...]] = []
    persona = talk.get("candidate_personas") or []
    if not 1 <= len(persona) <= 5:
        return found
    for turn, author in enumerate(talk["authors"]):
        if author != talk["main_author"]:
            continue
        said = talk["messages"][turn]
        head = (turn, context(talk, turn), said, image(talk), text(persona), pictures(persona))
        if split == "train":
            found.append((*head, None, None))
            continue
        candidates = (talk.get("nrp_candidate_responses") or [None] * len(talk["messages"]))[turn] or []
        if len(candidates) == LIMIT and candidates[0] == said:
            found.append((*head, candidates, 0))
    return found


def groundings(talk: Talk, split: str) -> list[tuple[Any, ...]]:
    """Grounding persona prediction: turns of the main author that have a gold persona."""
    found: list[tuple[Any, ...]] = []
    for turn, gold in enumerate(talk["gpp_grounded_persona"]):
        if gold is None or talk["authors"][turn] != talk["main_author"]:
            continue
        rest = (talk.get("gpp_candidate_personas") or [None] * len(talk["messages"]))[turn] or []
        if not 1 <= len(rest) <= 4:
            continue
        head = (turn, context(talk, turn), talk["messages"][turn], image(talk), text(rest), pictures(rest))
        head += (gold["id"], gold["title"], gold["file_name"])
        if split == "train":
            found.append((*head, None, None, None, None))
            continue
        lists = talk.get("gpp_candidate_authors_candidate_personas") or [None] * len(talk["messages"])
        first = (lists[turn] or [])[:LIMIT]
        if len(first) == LIMIT and first[0]["id"] == gold["id"]:
            ids = [element["id"] for element in first]
            titles = [element["title"] for element in first]
            found.append((*head, ids, titles, pictures(first), 0))
    return found


def speakers(talk: Talk, split: str) -> list[tuple[Any, ...]]:
    """Speaker identification: one example for a dialogue, its last message, whoever wrote that."""
    persona = talk.get("si_main_author_candidate_personas") or []
    head = (context(talk, -1), talk["messages"][-1], image(talk), text(persona), pictures(persona))
    if not 1 <= len(persona) <= 5:
        return []
    if split == "train":
        return [(*head, None, None, None)]
    authors = (talk.get("si_candidate_authors_candidate_personas") or [])[:LIMIT]
    if len(authors) < LIMIT or text(authors[0]) != text(persona):
        return []
    if any(not 1 <= len(author) <= 5 for author in authors):
        return []
    return [(*head, [text(author) for author in authors], [pictures(author) for author in authors], 0)]


TASKS = {
    "next_response_prediction": ("nrp", responses),
    "grounding_persona_prediction": ("gpp", groundings),
    "speaker_identification": ("si", speakers),
}
