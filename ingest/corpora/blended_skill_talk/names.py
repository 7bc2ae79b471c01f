"""The names that the modules of this corpus share: subsets, lists, schemes, and what the publisher calls things."""

CORPUS = "blended_skill_talk"

EPISODES = "episodes"
PERSONA_LIST = "persona_list"
TOPICS = "topic_to_persona_list"
SAFE_PERSONAS = "safe_personas"
CACHED = "ed_persona_topicifier"
HUMAN = "human_annotations"
CONVAI2 = "convai2"
WIZARD = "wizard_of_wikipedia"

SPLITS: dict[str, str | None] = {"train": "train", "valid": "validation", "test": "test"}

MODELS = ("convai2", "empathetic_dialogues", "wizard_of_wikipedia")
"""The data sets that contexts come from, and at the same time the models that suggest what to say."""

WORKERS = ("free", "guided")
"""The two workers, as the flag in ``dialog`` numbers them; the free one speaks first."""

SEEDS = 2
"""Seed utterances before the dialogue: turns 0 and 1, so that the dialogue's first turn is turn 2."""

SUGGESTIONS = "suggestion"
LABELS = "label"
CONVAI2_LABELS = "convai2_label"
CACHED_LABELS = "ed_label"
EPISODE = "episode"
"""Candidate sets; the last is no list of answers, its one item holds a whole episode of Wizard of Wikipedia."""

CANDIDATES = 100
"""Label candidates of an entry in valid and test."""

CHOSEN = f"{CORPUS}.chosen_suggestion"

MODES = ("knowledge", "empathy", "personal situations", "personal background")

PERSONA_LINE = "your persona: "
"""How a line of a persona begins in ParlAI's text formats."""


def scheme(mode: str) -> str:
    """Name the annotation scheme of a mode."""
    return f"{CORPUS}.{mode.replace(' ', '_')}"
