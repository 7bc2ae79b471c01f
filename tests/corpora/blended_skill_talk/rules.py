"""The teachers of Blended Skill Talk in plain Python, from the raw files: written from the rules, not from our code."""

from collections.abc import Iterator
from typing import Any

MODELS = ("convai2", "empathetic_dialogues", "wizard_of_wikipedia")
REPLACED = (
    *(("i've", "i have"), ("i ve", "i have"), ("ive", "i have"), ("i'm", "i am"), ("i m", "i am"), ("im", "i am")),
    *(("i'll", "i will"), ("i ll", "i will"), ("don't", "do not"), ("don t", "do not"), ("dont", "do not")),
    *(("can't", "cannot"), ("can t", "cannot"), ("cant", "cannot"), (" s", "'s")),
)

Episode = dict[str, Any]


def clean_acts(episode: Episode) -> Iterator[dict[str, Any]]:
    """Return the examples of an episode with every text as published."""
    dialog = episode["dialog"]
    count = len(dialog) // 2
    for entry in range(count):
        lines = [dialog[2 * entry][1]]
        if entry == 0:
            topic = [episode["additional_context"]] if episode["context_dataset"] == "wizard_of_wikipedia" else []
            persona = [f"your persona: {sentence}" for sentence in episode["personas"][1][:2]]
            lines = [*persona, *topic, episode["free_turker_utterance"], episode["guided_turker_utterance"], *lines]
        yield {
            "entry_index": entry,
            "turn_index": 2 * entry + 3,
            "text": "\n".join(lines),
            "label": dialog[2 * entry + 1][1],
            "context_dataset": episode["context_dataset"],
            "free_message": dialog[2 * entry][1],
            **{model: episode["suggestions"][2 * entry + 1][model] for model in MODELS},
            "guided_chosen_suggestion": episode["chosen_suggestions"][2 * entry + 1],
            "episode_done": entry == count - 1,
            "label_candidates": episode["label_candidates"][entry] if "label_candidates" in episode else None,
        }


def acts(episode: Episode) -> Iterator[dict[str, Any]]:
    """Return the same examples after they were written to a line of text and read again."""
    places = ("entry_index", "turn_index")
    for act in clean_acts(episode):
        fields = [f"{key}:{_escape(act[key])}" for key in act if isinstance(act[key], str)]
        if act["episode_done"]:
            fields.append("episode_done:True")
        if act["label_candidates"] is not None:
            fields.append("label_candidates:" + "|".join(map(_escape, act["label_candidates"])))
        line = "\t".join(fields) + " \n"
        found: dict[str, Any] = {"episode_done": False, "label_candidates": None}
        for cell in line.removesuffix("\n").split("\t"):
            key, _, value = cell.partition(":")
            is_list = key == "label_candidates"
            found[key] = [_unescape(item) for item in value.split("|")] if is_list else _unescape(value)
        found["episode_done"] = bool(found["episode_done"])
        yield {key: act[key] if key in places else found[key] for key in act}


def _escape(value: str) -> str:
    return value.replace("\t", "\\t").replace("\n", "\\n").replace("|", "__PIPE__")


def _unescape(value: str) -> str:
    return value.replace("\\t", "\t").replace("\\n", "\n").replace("__PIPE__", "|")


def round_tripped(value: str) -> str:
    return _unescape(_escape(value))


def standardized(sentence: str) -> str:
    """Bring a persona sentence into the form in which it is looked up."""
    sentence = sentence.lower().rstrip(".!?")
    for old, new in REPLACED:
        sentence = sentence.replace(old, new)
    return sentence


def contexts(episode: Episode, safe_lines: list[str]) -> tuple[str, str, bool]:
    """Return the lines shown to both sides, and whether every persona sentence is safe."""
    safe = {standardized(sentence) for line in safe_lines for sentence in line.strip().split("|")}
    is_safe = all(standardized(sentence) in safe for persona in episode["personas"] for sentence in persona)
    rest = [episode["additional_context"]] if episode["context_dataset"] == "wizard_of_wikipedia" else []
    rest += [episode["free_turker_utterance"], episode["guided_turker_utterance"]]
    free, guided = (
        "\n".join([*(f"your persona: {text}" for text in persona[:2]), *rest]) for persona in episode["personas"][:2]
    )
    return free, guided, is_safe


class Topicifier:
    """Chooses personas and topics by the lists."""

    def __init__(self, personas: str, topics: list[tuple[str, list[str]]]) -> None:
        self.personas = [persona for persona in personas.strip().split("||") if persona]
        self.sentences = dict(topics)
        self.topics: dict[str, str] = {}
        for topic, sentences in topics:
            for sentence in sentences:
                self.topics.setdefault(sentence, topic)

    def topic(self, persona: str) -> str:
        """Choose a topic for a persona."""
        for line in persona.strip().split("\n"):
            sentence = line.replace("your persona:", "").strip()
            if sentence in self.topics:
                return self.topics[sentence]
        for sentence, topic in self.topics.items():
            if any(len(word) > 6 and word in persona for word in sentence.split()):
                return topic
        return list(self.topics.values())[-1]

    def persona(self, topic: str) -> str:
        """Choose a persona for a topic."""
        for sentence in self.sentences.get(topic.strip(), []):
            for persona in self.personas:
                if sentence in persona:
                    return persona
        return self.personas[0]

    def persona_of_utterance(self, utterance: str) -> str:
        """Choose a persona for an utterance: the last with the highest score."""
        scores = [(overlap(utterance.strip(), persona), place) for place, persona in enumerate(self.personas)]
        return self.personas[max(scores)[1]]

    def with_topic(self, text: str) -> str:
        """Put a topic between persona and utterance."""
        *persona, utterance = text.strip().split("\n")
        block = "".join(f"{line}\n" for line in persona)
        return f"{block}{self.topic(block)}\n{utterance}"

    def with_persona(self, text: str) -> str:
        """Put a persona above topic and utterance."""
        topic, *rest = text.strip().split("\n")
        return f"{self.persona(topic)}{topic}\n{rest[0] if rest else ''}"


def overlap(text: str, other: str) -> int:
    """Count the words of at least five letters of each that stand in the other."""
    return sum(len(word) >= 5 and word in other for word in text.split(" ")) + sum(
        len(word) >= 5 and word in text for word in other.split(" ")
    )


def wizard_entries(episode: Episode) -> list[tuple[str, list[str]]]:
    turns = episode["dialog"]
    if "Wizard" in turns[0]["speaker"]:
        pairs = [(turns[i - 1]["text"] if i else None, turns[i]["text"]) for i in range(0, len(turns) - 2, 2)]
    else:
        pairs = [(turns[i]["text"], turns[i + 1]["text"]) for i in range(0, len(turns) - 1, 2)]
    found = []
    for number, (before, answer) in enumerate(pairs):
        topic = [episode["chosen_topic"]] if number == 0 else []
        found.append(("\n".join([*topic, *([] if before is None else [before])]), [answer]))
    return found
