"""The rules of MPChat's three tasks in plain Python, from their description; no code is shared with the reader."""

from typing import Any

Json = dict[str, Any]
LIMIT = 100


def context(dialogue: Json, turn: int) -> str:
    return " ".join(dialogue["messages"][:turn])


def image(dialogue: Json) -> str:
    return dialogue["file_name"] if dialogue["has_image"] else ""


def text(elements: list[Json]) -> str:
    return " ".join(element["title"] for element in elements)


def pictures(elements: list[Json]) -> list[str]:
    return [element["file_name"] for element in elements]


def responses(dialogue: Json, split: str) -> list[tuple[Any, ...]]:
    """Next response prediction: every turn of the main author that the authors' code would not reject."""
    found: list[tuple[Any, ...]] = []
    persona = dialogue.get("candidate_personas") or []
    if not 1 <= len(persona) <= 5:
        return found
    for turn, author in enumerate(dialogue["authors"]):
        if author != dialogue["main_author"]:
            continue
        response = dialogue["messages"][turn]
        head = (turn, context(dialogue, turn), response, image(dialogue), text(persona), pictures(persona))
        if split == "train":
            found.append((*head, None, None))
            continue
        candidates = (dialogue.get("nrp_candidate_responses") or [None] * len(dialogue["messages"]))[turn] or []
        if len(candidates) == LIMIT and candidates[0] == response:
            found.append((*head, candidates, 0))
    return found


def groundings(dialogue: Json, split: str) -> list[tuple[Any, ...]]:
    """Grounding persona prediction: turns of the main author that have a gold persona."""
    found: list[tuple[Any, ...]] = []
    for turn, gold in enumerate(dialogue["gpp_grounded_persona"]):
        if gold is None or dialogue["authors"][turn] != dialogue["main_author"]:
            continue
        rest = (dialogue.get("gpp_candidate_personas") or [None] * len(dialogue["messages"]))[turn] or []
        if not 1 <= len(rest) <= 4:
            continue
        head = (turn, context(dialogue, turn), dialogue["messages"][turn], image(dialogue), text(rest), pictures(rest))
        head += (gold["id"], gold["title"], gold["file_name"])
        if split == "train":
            found.append((*head, None, None, None, None))
            continue
        lists = dialogue.get("gpp_candidate_authors_candidate_personas") or [None] * len(dialogue["messages"])
        first = (lists[turn] or [])[:LIMIT]
        if len(first) == LIMIT and first[0]["id"] == gold["id"]:
            ids = [element["id"] for element in first]
            found.append((*head, ids, [element["title"] for element in first], pictures(first), 0))
    return found


def speakers(dialogue: Json, split: str) -> list[tuple[Any, ...]]:
    """Speaker identification: one example for a dialogue, its last message, whoever wrote that."""
    persona = dialogue.get("si_main_author_candidate_personas") or []
    head = (context(dialogue, -1), dialogue["messages"][-1], image(dialogue), text(persona), pictures(persona))
    if not 1 <= len(persona) <= 5:
        return []
    if split == "train":
        return [(*head, None, None, None)]
    authors = (dialogue.get("si_candidate_authors_candidate_personas") or [])[:LIMIT]
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
