"""MPChat: every clause of its rules."""

import math
from typing import Any

from talkhouse.testing.clauses import Change, Clause, changed, copied, drop, put, replaced, together, write

NRP, GPP, SI = "mpchat_nrp.json", "mpchat_gpp.json", "mpchat_si.json"
RESPONSES = "nrp_candidate_responses"
PERSONAS = "gpp_candidate_authors_candidate_personas"
AUTHORS = "si_candidate_authors_candidate_personas"
IN_TRAIN, IN_VAL = f"{NRP}#/train/0", f"{NRP}#/val/0"


def element(native_id: str, **fields: Any) -> dict[str, Any]:
    return {"id": native_id, "title": "new", "file_name": f"{native_id}.jpg", "created_utc": 1} | fields


def rated(*votes: int, overall: str | None = "E", **fields: Any) -> dict[str, Any]:
    """Make a persona element that workers compared with a message."""
    labels: dict[str, Any] = {"label_per_worker": [[f"w{number}", vote] for number, vote in enumerate(votes)]}
    return element("r", **labels, **({} if overall is None else {"label_overall": overall}), **fields)


def without_time(**times: Any) -> dict[str, Any]:
    plain = element("r")
    del plain["created_utc"]
    return plain | times


def new_persona(fields: dict[str, Any]) -> Change:
    """Put an element among all personas, which nothing else reads."""
    return put(f"{IN_TRAIN}/all_personas/-", fields)


def new_label(fields: dict[str, Any]) -> Change:
    return put(f"{IN_TRAIN}/grounded_personas/1/-", fields)


def shortened(at: str) -> Change:
    return changed(at, lambda some: some[:-1])


def lengthened(at: str) -> Change:
    return changed(at, lambda some: [*some, some[-1]])


NEW, LABELLED = f"{IN_TRAIN}/all_personas/4", f"{IN_TRAIN}/grounded_personas/1/1"
RESPONSE, PERSONA = f"{IN_VAL}/{RESPONSES}/2", f"{GPP}#/val/0/{PERSONAS}/2"
AUTHOR = f"{SI}#/val/0/{AUTHORS}"

OTHER = put(f"{RESPONSE}/0", "she posed")
IMAGES = "https://i.example.org"
FILE, TIME, FOURTH = f"{IN_TRAIN}/file_name", f"{IN_TRAIN}/created_utcs/1", f"{IN_TRAIN}/all_personas/3"
WOOD, WOOD_FROM = f"{NRP}#/train/1/file_name", put(f"{NRP}#/train/1/direct_url", f"{IMAGES}/wood.jpg")

CLAUSES = [
    Clause("MP-01", write(NRP, "[]"), f"{NRP}#", "a bare list"),
    *(Clause("MP-01", drop(f"{NRP}#/{split}"), f"{NRP}#", f"no {split}") for split in ("train", "val", "test")),
    Clause("MP-01", put(f"{NRP}#/val", {}), f"{NRP}#/val", "no list of dialogues"),
    Clause("MP-01", write("dialog_image_urls.json", "[]"), "dialog_image_urls.json#", "Expected `object`"),
    Clause("MP-01", write("persona_image_urls.json", '{"a": 1}'), "persona_image_urls.json#/a", "Expected `str"),
    *(
        Clause("MP-02", drop(f"{IN_TRAIN}/{name}"), IN_TRAIN, f"`{name}`")
        for name in ("main_author", "authors", "messages", "has_image")
    ),
    Clause("MP-02", put(f"{IN_TRAIN}/has_image", "yes"), f"{IN_TRAIN}/has_image", "got `str`"),
    Clause("MP-02", put(f"{IN_TRAIN}/main_author", None), f"{IN_TRAIN}/main_author", "Expected `str`"),
    *(
        Clause("MP-02", shortened(f"{at}/{name}"), f"{at}/{name}", "items for")
        for at, name in (
            (IN_TRAIN, "authors"),
            (IN_TRAIN, "message_ids"),
            (IN_TRAIN, "created_utcs"),
            (IN_TRAIN, "grounded_personas"),
            (IN_TRAIN, "ungrounded_personas"),
            (IN_VAL, RESPONSES),
            (f"{GPP}#/train/0", "gpp_grounded_persona"),
            (f"{GPP}#/train/0", "gpp_candidate_personas"),
            (f"{GPP}#/val/0", PERSONAS),
        )
    ),
    Clause("MP-02", shortened(f"{IN_TRAIN}/messages"), f"{IN_TRAIN}/authors", "2 items for 1 messages"),
    Clause("MP-03", put(RESPONSE, []), RESPONSE, "no candidates"),
    Clause("MP-03", put(RESPONSE, None), RESPONSE, "no candidates"),
    Clause("MP-03", drop(f"{NRP}#/test/0/{RESPONSES}"), f"{NRP}#/test/0/{RESPONSES}/1", "no candidates"),
    Clause("MP-03", OTHER, RESPONSE, "the first candidate is not the message"),
    Clause("MP-03", put(PERSONA, []), PERSONA, "no candidates"),
    Clause("MP-03", drop(f"{GPP}#/val/0/{PERSONAS}"), PERSONA, "no candidates"),
    Clause("MP-03", put(f"{PERSONA}/0/id", "other"), PERSONA, "the first candidate is not the gold persona"),
    Clause("MP-03", drop(AUTHOR), AUTHOR, "no candidates"),
    Clause("MP-03", put(f"{AUTHOR}/0/0/title", "other"), AUTHOR, "the first author's titles are not"),
    Clause("MP-03", together(OTHER, put(f"{IN_VAL}/candidate_personas", [])), RESPONSE, "the first candidate is not"),
    Clause("MP-04", shortened(RESPONSE), RESPONSE, "99 candidates, not 100"),
    Clause("MP-04", lengthened(RESPONSE), RESPONSE, "101 candidates, not 100"),
    Clause("MP-04", shortened(PERSONA), PERSONA, "99 candidates, fewer than 100"),
    Clause("MP-04", lengthened(PERSONA), PERSONA, "101 candidates: the first 100 are taken", "warn"),
    Clause("MP-04", shortened(AUTHOR), AUTHOR, "99 candidates, fewer than 100"),
    Clause("MP-04", lengthened(AUTHOR), AUTHOR, "101 candidates: the first 100 are taken", "warn"),
    Clause("MP-04", together(OTHER, shortened(RESPONSE)), RESPONSE, "99 candidates"),
    *(
        Clause("MP-05", put(f"{at}", some), at, f"has {len(some)} elements, not 1 to {limit}")
        for at, limit in (
            (f"{IN_TRAIN}/candidate_personas", 5),
            (f"{IN_VAL}/candidate_personas", 5),
            (f"{GPP}#/train/0/gpp_candidate_personas/1", 4),
            (f"{SI}#/train/0/si_main_author_candidate_personas", 5),
        )
        for some in ([], [element(f"e{number}") for number in range(limit + 1)])
    ),
    Clause("MP-05", drop(f"{IN_TRAIN}/candidate_personas"), f"{IN_TRAIN}/candidate_personas", "has 0 elements"),
    Clause("MP-05", put(f"{AUTHOR}/7", []), f"{AUTHOR}/7", "1 candidate authors have a list of other than 1 to 5"),
    Clause("MP-05", put(f"{AUTHOR}/7", [element("e")] * 6), f"{AUTHOR}/7", "other than 1 to 5 elements"),
    Clause("MP-05", together(put(f"{AUTHOR}/7", []), shortened(AUTHOR)), f"{AUTHOR}/7", "1 candidate authors"),
    Clause("MP-06", drop(FILE), FILE, "has_image, and no file_name"),
    Clause("MP-06", put(FILE, None), FILE, "has_image, and no file_name"),
    *(
        Clause("MP-06", together(new_persona(element("e")), drop(f"{NEW}/{name}")), NEW, f"`{name}`")
        for name in ("id", "title", "file_name")
    ),
    Clause("MP-06", new_persona(element("e", title=None)), f"{NEW}/title", "Expected `str`"),
    Clause("MP-06", put(f"{AUTHOR}/7/0", "z"), f"{AUTHOR}/7/0", "Expected `object`"),
    Clause("MP-07", new_persona(without_time()), NEW, "neither of created_utc and created_utcs"),
    Clause("MP-07", new_persona(without_time(created_utc=None)), NEW, "neither of created_utc and created_utcs"),
    Clause("MP-07", new_persona(element("r", created_utcs=1.5)), NEW, "both of created_utc and created_utcs"),
    Clause("MP-07", new_label(rated(1, 1, 0, overall="(strong) E")), LABELLED, "where 2 of 3 workers say 1"),
    Clause("MP-07", new_label(rated(1, 0, 0)), LABELLED, "label_overall E where 1 of 3"),
    Clause("MP-07", new_label(rated(0, 0, 0, overall="I")), LABELLED, "label_overall I where 0 of 3"),
    Clause("MP-07", new_label(rated(1, 0, 0, overall="(strong) I")), LABELLED, "where 1 of 3 workers say 1"),
    Clause("MP-07", new_label(rated(1, 1)), LABELLED, "2 workers instead of 3"),
    Clause("MP-07", new_label(rated(1, 1, 0, 0)), LABELLED, "4 workers instead of 3"),
    Clause("MP-07", new_label(element("r", label_overall="E")), LABELLED, "0 workers instead of 3"),
    Clause("MP-07", new_label(rated(1, 1, 2)), LABELLED, "a vote that is neither 0 nor 1"),
    Clause("MP-07", new_label(rated(1, 1, 0, overall="entails")), LABELLED, "label_overall 'entails' is unknown"),
    Clause("MP-07", new_label(rated(1, 1, 0, overall=None)), LABELLED, "no label_overall"),
    *(
        Clause("MP-08", put(at, some), at, "is filled on turns of others: 0")
        for at, some in (
            (f"{IN_TRAIN}/grounded_personas/0", [element("r")]),
            (f"{IN_TRAIN}/ungrounded_personas/0", [element("r")]),
            (f"{NRP}#/test/0/{RESPONSES}/0", ["what wood is this?"]),
            (f"{GPP}#/train/0/gpp_grounded_persona/0", element("r")),
            (f"{GPP}#/train/0/gpp_candidate_personas/0", [element("r")]),
            (f"{GPP}#/test/0/{PERSONAS}/0", [element("r")]),
        )
    ),
    Clause("MP-08", put(f"{SI}#/train/0/main_author", "fay"), f"{SI}#/train/0/main_author", "fay, the main author"),
    *(
        Clause("MP-09", put(f"{name}#/{split}/0/file_name", "desk.png"), f"{name}#/{split}/0/file_name", "'desk.png'")
        for name in (NRP, GPP, SI)
        for split in ("train", "val", "test")
    ),
    Clause("MP-09", together(put(WOOD, "wood.jpg"), WOOD_FROM), WOOD, "and not 'u0_wood.jpg'"),
    Clause("MP-09", put(f"{IN_TRAIN}/message_ids/0", "s9"), FILE, "and not 's9_desk.png'"),
    Clause("MP-09", put(f"{IN_TRAIN}/direct_url", f"{IMAGES}/a/mug.png"), FILE, "and not 's0_mug.png'"),
    Clause("MP-09", together(drop(f"{IN_TRAIN}/message_ids"), put(FILE, "s0_mug.png")), FILE, "and not 's0_desk.png'"),
    Clause("MP-09", new_persona(element("r", direct_url=f"{IMAGES}/q.jpg")), NEW, "file_name is not the id"),
    Clause("MP-09", new_persona(element("r", file_name="r_q.jpg", direct_url=f"{IMAGES}/q.png")), NEW, "is not the id"),
    *(
        Clause("MP-09", put(at, element("away")), at, "has personas that all_personas has not: away")
        for at in (
            f"{IN_TRAIN}/candidate_personas/0",
            f"{GPP}#/train/0/gpp_grounded_persona/1",
            f"{GPP}#/train/0/gpp_candidate_personas/1/0",
            f"{SI}#/train/0/si_main_author_candidate_personas/0",
        )
    ),
    Clause("MP-09", put(f"{RESPONSE}/5", "she poses"), RESPONSE, "the answer stands among its candidates again"),
    Clause("MP-09", changed(PERSONA, lambda some: [*some[:-1], some[0]]), PERSONA, "the answer stands among"),
    Clause("MP-09", changed(AUTHOR, lambda some: [*some[:-1], some[0]]), AUTHOR, "the answer stands among"),
    *(
        Clause("MP-10", put(at := f"{name}#/train/0/{field}", value), at, f"a train dialogue with {field}")
        for name, field, values in (
            (NRP, RESPONSES, (None, [], [[], []], [[], ["needs a mug"]])),
            (GPP, PERSONAS, (None, [], [[], []], [[], [element("r")]])),
            (SI, AUTHORS, (None, [], [[]], [[element("r")]])),
        )
        for value in values
    ),
    *(
        Clause("MP-10", drop(f"{name}#/{split}/0/{field}"), f"{name}#/{split}/0", f"a {split} dialogue without {field}")
        for name, field in ((NRP, RESPONSES), (GPP, PERSONAS), (SI, AUTHORS))
        for split in ("val", "test")
    ),
    Clause("MP-11", put(f"{IN_TRAIN}/messages/1", None), f"{IN_TRAIN}/messages/1", "Expected `str`, got `null`"),
    Clause("MP-11", put(f"{IN_TRAIN}/messages/1", 7), f"{IN_TRAIN}/messages/1", "Expected `str`, got `int`"),
    Clause("MP-11", put(f"{IN_TRAIN}/messages", []), f"{IN_TRAIN}/messages", "no messages"),
    Clause("MP-12", put(f"{IN_TRAIN}/messages/0", "see my desk"), f"{IN_TRAIN}", "other words than an earlier thread"),
    *(
        Clause("MP-12", put(f"{FOURTH}/{name}", "x"), FOURTH, "another title, picture")
        for name in ("title", "file_name", "author")
    ),
    Clause("MP-13", copied(NRP, f"again/{NRP}"), f"{NRP}#", f"from mpchat/again/{NRP}"),
    Clause("TH-01", replaced(NRP, '"needs a mug"', '"needs a mug" 1'), IN_TRAIN, "malformed JSON"),
    Clause("TH-01", replaced(NRP, '"test": [', '"test": '), f"{NRP}#", "malformed JSON"),
    Clause("TH-02", replaced(NRP, b'"needs a mug"', b'"caf\xe9"'), IN_TRAIN, "not UTF-8"),
    Clause("TH-02", write("persona_image_urls.json", b'{"a": "caf\xe9"}'), "persona_image_urls.json#", "not UTF-8"),
    Clause("TH-02", write("dialog_image_urls.json", '{"a": "\\ud800"}'), "dialog_image_urls.json#/a", "half of a surr"),
    Clause("TH-02", put(f"{IN_TRAIN}/messages/0", "\ud800"), f"{IN_TRAIN}/messages/0", "half of a surrogate pair"),
    Clause("TH-03", replaced(NRP, '"main_author"', '"x": 1, "x": 2, "main_author"'), f"{IN_TRAIN}/x", "twice", "warn"),
    Clause("TH-03", replaced(NRP, '{"id"', '{"id": "x", "id"'), f"{IN_TRAIN}/all_personas/0/id", "twice", "warn"),
    Clause("TH-04", put(f"{IN_TRAIN}/url", [{"created_utcs": [math.nan]}]), IN_TRAIN, "NaN is not a JSON number"),
    Clause("TH-04", put(f"{IN_TRAIN}/created_utcs/0", float("-inf")), IN_TRAIN, "-Infinity is not a JSON number"),
    Clause("TH-05", write("mpchat_other.json", "{}"), "mpchat_other.json#", "none of mpchat_nrp.json"),
    Clause("MP-14", put(f"{IN_TRAIN}/authors/0", None), f"{IN_TRAIN}/authors/0", "no author of the messages 0"),
    Clause("MP-14", put(f"{IN_TRAIN}/has_image", 1), f"{IN_TRAIN}/has_image", "has_image is 1"),
    Clause("MP-14", put(f"{IN_TRAIN}/has_image", None), f"{IN_TRAIN}/has_image", "has_image is null"),
    Clause("MP-14", put(TIME, math.nan), TIME, "is NaN of the messages 1"),
]
