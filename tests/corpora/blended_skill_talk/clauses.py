"""Blended Skill Talk: every clause of its rules."""

from typing import Any

from talkhouse.testing.clauses import Clause, changed, copied, drop, line, put, removed, replaced, together, write

TRAIN, VALID, TEST = "train.json", "valid.json", "test.json"
FIRST = f"{TRAIN}#/0"
PLAIN = f"{VALID}#/1"
"""An episode of two turns, from ConvAI2."""

SUGGESTED, CHOSEN = f"{FIRST}/suggestions/3", f"{FIRST}/chosen_suggestions/1"
LISTS, LAST = f"{PLAIN}/label_candidates", f"{VALID}#/0/label_candidates/0"
ED, ED_TEST = "ed_persona_topicifier__train__both_sides.json", "ed_persona_topicifier__test__experiencer_only.json"
CONVAI2, WIZARD = "convai2/train_self_original.txt", "wizard_of_wikipedia/train.json"
TOPICS = "topic_to_persona_list.txt"
HUMAN = "human_annotations.json"
ROWS = f"{HUMAN}#/data"
MODELS = ("convai2", "empathetic_dialogues", "wizard_of_wikipedia")
ESCAPES = (r"a\tb", r"a\nb", "a__PIPE__b")
GOLD = "Mine in the hall has been wrong since 1980."
"""The label of the plain episode."""

MODES = ("knowledge", "empathy", "situations", "personal_background")
ROW = {"internal_id": 0, **dict.fromkeys(MODES, True), "classifier_prediction": "__WIZARD__", "text": "It was a brick."}
AGAIN = copied(TRAIN, f"packed/{TRAIN}")
TWICE = replaced(TRAIN, '{"convai2"', '{"convai2": "a", "convai2"')


def more(episode: int) -> Any:
    """Append a row about an episode."""
    return put(f"{ROWS}/-", ROW | {"internal_id": episode})


def candidates(position: int, text: str | None) -> Any:
    """Put a text at a place of the 100 candidates of the plain episode."""
    return put(f"{LISTS}/0/{position}", text)


def without_gold(texts: list[str]) -> list[str]:
    return [text.replace(GOLD, "no") for text in texts]


def shortened(turns: int) -> Any:
    """Cut the first episode off behind so many turns."""
    names = ("dialog", "suggestions", "chosen_suggestions", "chosen_suggestion_texts")
    return changed(FIRST, lambda episode: episode | {name: episode[name][:turns] for name in names})


CLAUSES = [
    *(
        Clause("BS-01", changed(f"{FIRST}/{name}", lambda some: some[:-1]), FIRST, f"{name} {has}5")
        for name, has in (("dialog", "has "), ("suggestions", ""), ("chosen_suggestions", ""))
    ),
    Clause("BS-02", drop(f"{FIRST}/personas/1"), f"{FIRST}/personas", "1 personas, not 2"),
    Clause("BS-02", drop(f"{FIRST}/personas"), FIRST, "`personas`"),
    Clause("BS-02", drop(f"{FIRST}/personas/1/1"), f"{FIRST}/personas/1", "has 1 sentences, not 2"),
    Clause("BS-02", drop(f"{FIRST}/personas/0/1"), f"{FIRST}/personas/0", "the free worker's", "reject_example"),
    *(
        clause
        for seed in ("free_turker_utterance", "guided_turker_utterance")
        for clause in (
            Clause("BS-02", drop(f"{FIRST}/{seed}"), FIRST, f"`{seed}`"),
            Clause("BS-02", put(f"{FIRST}/{seed}", None), f"{FIRST}/{seed}", "Expected `str`, got `null`"),
        )
    ),
    Clause("BS-02", put(f"{TRAIN}#/2/additional_context", None), f"{TRAIN}#/2/additional_context", "without a topic"),
    Clause("BS-02", drop(f"{TRAIN}#/2/additional_context"), f"{TRAIN}#/2/additional_context", "without a topic"),
    *(
        Clause("BS-03", drop(f"{FIRST}/{name}"), FIRST, f"`{name}`")
        for name in ("dialog", "suggestions", "context_dataset")
    ),
    Clause("BS-03", put(f"{FIRST}/context_dataset", None), f"{FIRST}/context_dataset", "Expected `str`, got `null`"),
    Clause("BS-03", put(f"{FIRST}/dialog/2/1", None), f"{FIRST}/dialog/2", "no list with a text at its second place"),
    Clause("BS-03", put(f"{FIRST}/dialog/1/1", 7), f"{FIRST}/dialog/1", "no list with a text at its second place"),
    Clause("BS-03", put(f"{FIRST}/dialog/1", [1]), f"{FIRST}/dialog/1", "no list with a text at its second place"),
    Clause("BS-03", put(f"{FIRST}/dialog/1", "hi"), f"{FIRST}/dialog/1", "no list with a text at its second place"),
    *(
        clause
        for model in MODELS
        for clause in (
            Clause("BS-03", put(f"{SUGGESTED}/{model}", None), SUGGESTED, "got `null`"),
            Clause("BS-03", drop(f"{SUGGESTED}/{model}"), SUGGESTED, f"no suggestion of {model}"),
        )
    ),
    Clause("BS-03", put(SUGGESTED, None), SUGGESTED, "suggestions are no object"),
    Clause("BS-03", put(f"{FIRST}/chosen_suggestions/3", None), f"{FIRST}/chosen_suggestions/3", "is no text"),
    Clause("BS-04", put(LISTS, []), LISTS, "0 lists of candidates for 1"),
    Clause("BS-04", put(LISTS, None), LISTS, "Expected `array`"),
    Clause("BS-04", candidates(7, None), f"{LISTS}/0/7", "Expected `str`, got `null`"),
    Clause("BS-05", put(f"{FIRST}/dialog/2/0", 1), f"{FIRST}/dialog/2", "the flag of another worker: 1 (2)"),
    Clause("BS-05", put(f"{FIRST}/dialog/1/0", "1"), f"{FIRST}/dialog/1", "the flag of another worker: 1 (1)"),
    Clause("BS-05", put(f"{FIRST}/dialog/1/-", None), f"{FIRST}/dialog/1", "an item that is no pair: 1 (1)"),
    Clause("BS-05", shortened(5), f"{FIRST}/dialog/4", "5 turns: the last one"),
    Clause("BS-05", shortened(1), f"{FIRST}/dialog", "1 turns: the episode makes no example"),
    Clause("BS-05", shortened(0), f"{FIRST}/dialog", "0 turns: the episode makes no example"),
    Clause("BS-06", drop(f"{LISTS}/0/0"), f"{LISTS}/0", "other than 100 candidates"),
    Clause("BS-06", put(f"{LISTS}/0/-", "no"), f"{LISTS}/0", "other than 100"),
    Clause("BS-06", changed(f"{LISTS}/0", without_gold), f"{LISTS}/0", "is no candidate"),
    Clause("BS-06", candidates(7, GOLD), f"{LISTS}/0", "the label is a candidate more than once"),
    Clause("BS-06", put(LAST, [*map(str, range(99)), "Then it needs more water."]), LAST, "the label is the last"),
    Clause("BS-06", put(f"{LISTS}/-", ["no"] * 100), f"{LISTS}/1", "2 lists of"),
    *(
        clause
        for text in ESCAPES
        for clause in (
            Clause("BS-07", put(f"{FIRST}/dialog/2/1", text), f"{FIRST}/dialog/2", "a text that the round trip"),
            Clause("BS-07", put(f"{FIRST}/dialog/1/1", text), f"{FIRST}/dialog/1", "a text that the round trip"),
            Clause("BS-07", candidates(7, text), f"{LISTS}/0", "a candidate that the round trip"),
            Clause("BS-07", put(f"{FIRST}/suggestions/1/convai2", text), f"{FIRST}/suggestions/1", "a suggestion that"),
            Clause("BS-07", put(f"{FIRST}/personas/1/0", text), FIRST, "a context that the round trip changes"),
            Clause("BS-07", put(f"{FIRST}/free_turker_utterance", text), FIRST, "a context that"),
            Clause("BS-07", put(f"{FIRST}/guided_turker_utterance", text), FIRST, "a context that"),
            Clause("BS-07", put(f"{TRAIN}#/2/additional_context", text), f"{TRAIN}#/2", "a context that"),
        )
    ),
    Clause("BS-07", put(f"{FIRST}/context_dataset", "other"), f"{FIRST}/context_dataset", "'other'"),
    Clause("BS-07", put(CHOSEN, "other"), CHOSEN, "an unknown chosen"),
    Clause("BS-08", put(f"{FIRST}/label_candidates", [["a"]] * 3), f"{FIRST}/label_candidates", "candidates in train"),
    Clause("BS-08", drop(LISTS), PLAIN, "no label candidates in valid"),
    Clause("BS-08", drop(f"{TEST}#/0/label_candidates"), f"{TEST}#/0", "no label candidates in test"),
    Clause("BS-08", put(f"{LISTS}/0", []), f"{LISTS}/0", "an empty list of candidates"),
    Clause("BS-09", line(TOPICS, 1, lambda _: "no list"), f"{TOPICS}#/1", "not 'topic: [list]'"),
    Clause("BS-09", line(TOPICS, 1, lambda _: "One: [1]"), f"{TOPICS}#/1", "no list of texts"),
    Clause("BS-09", line(TOPICS, 1, lambda _: "One: ['a', b]"), f"{TOPICS}#/1", "no list of texts"),
    Clause("BS-09", line(TOPICS, 4, lambda _: None), f"{TOPICS}#/3", "no line end"),
    Clause("BS-09", drop(f"{ED}#/0/0/text"), f"{ED}#/0/0", "`text`"),
    Clause("BS-09", put(f"{ED}#/0/0/labels", "a"), f"{ED}#/0/0/labels", "Expected `array`"),
    Clause("BS-09", drop(f"{ED}#/0/0/label_candidates"), f"{ED}#/0/0", "no label_candidates"),
    Clause("BS-09", drop(f"{ED_TEST}#/0/0/episode_done"), f"{ED_TEST}#/0/0", "`episode_done`"),
    Clause("BS-09", line(CONVAI2, 5, lambda _: "hi !\thi ."), f"{CONVAI2}#/1", "a line without a number"),
    Clause("BS-09", line(CONVAI2, 5, lambda _: "2 hi !\thi .\tmuch"), f"{CONVAI2}#/1", "a reward that is no number"),
    Clause("BS-09", drop(f"{WIZARD}#/0/dialog"), f"{WIZARD}#/0", "`dialog`"),
    Clause("BS-09", put(f"{WIZARD}#/0/dialog", []), f"{WIZARD}#/0/dialog", "an episode without turns"),
    Clause("BS-09", drop(f"{WIZARD}#/0/dialog/0/text"), f"{WIZARD}#/0/dialog/0", "`text`"),
    Clause("BS-09", write(HUMAN, '{"rows": []}'), f"{HUMAN}#", "expected {'data': [rows]}, found {'rows': b'[]' ...}"),
    Clause("BS-09", put(ROWS, {}), f"{HUMAN}#", "found {'data': b'{}' ...}"),
    Clause("BS-09", put(f"{ROWS}/0/empathy", 1), f"{ROWS}/0/empathy", "Expected `bool`, got `int`"),
    Clause("BS-09", drop(f"{ROWS}/0/text"), f"{ROWS}/0", "`text`"),
    Clause("BS-09", put(f"{ROWS}/0/situation", True), f"{ROWS}/0", "`situation`"),
    Clause("BS-10", AGAIN, f"{TRAIN}#", "a file of this kind came before"),
    Clause("BS-10", copied("safe_personas.txt", "safe_personas_2.txt"), "safe_personas_2.txt#", "a file of this kind"),
    Clause("BS-10", together(AGAIN, put(f"packed/{FIRST}/dialog/0/1", "Other words.")), FIRST, "other words than the"),
    Clause("BS-11", write("persona_list.txt", "your persona: a\n||your persona: a\n||"), "persona_list.txt#", "1 of 2"),
    Clause("BS-11", write("safe_personas.txt", "a\na\na\n"), "safe_personas.txt#", "2 of 3 repeat an earlier one"),
    Clause("BS-12", put(f"{ROWS}/0/internal_id", 9), f"{ROWS}/0", "no loaded episode: 1 (0)"),
    Clause("BS-12", more(0), f"{ROWS}/0", "too few or too many rows of a dialogue: 3 (0, 1, 2)"),
    Clause("BS-12", drop(f"{ROWS}/0"), f"{ROWS}/0", "not the words that its dialogue has at this place: 1 (0)"),
    Clause("BS-12", together(more(1), more(0)), f"{ROWS}/3", "whose rows are interrupted by others: 1 (3)"),
    Clause("BS-12", removed(VALID), f"{ROWS}/0", "valid.json is not loaded: 2 (0, 1)", "note"),
    Clause("TH-01", replaced(TRAIN, '"Do they win?"', '"Do they win?" 1'), f"{TRAIN}#/1", "malformed JSON"),
    Clause("TH-01", write(TRAIN, "{}"), f"{TRAIN}#", "not a JSON list"),
    Clause("TH-01", write(HUMAN, '{"data": [1 2]}'), f"{HUMAN}#", "malformed JSON"),
    Clause("TH-02", replaced(TRAIN, b'"Do they win?"', b'"caf\xe9"'), f"{TRAIN}#/1", "not UTF-8"),
    Clause("TH-02", put(f"{FIRST}/dialog/0/1", "\udfff"), f"{FIRST}/dialog/0/1", "half of a surrogate pair"),
    Clause("TH-02", write("safe_personas.txt", b"caf\xe9\n"), "safe_personas.txt#", "not UTF-8"),
    Clause("TH-03", replaced(TRAIN, '"personas"', '"x": [], "x": [], "personas"'), f"{FIRST}/x", "twice", "warn"),
    Clause("TH-03", TWICE, f"{FIRST}/suggestions/1/convai2", "", "warn"),
    Clause("TH-04", put(f"{FIRST}/workers", float("nan")), FIRST, "NaN is not a JSON number"),
    Clause("TH-04", put(f"{FIRST}/dialog/0/0", float("inf")), FIRST, "Infinity is not a JSON number"),
    Clause("TH-05", write("train.txt", "a\n"), "train.txt#", "its name and folder are those of no file"),
]
