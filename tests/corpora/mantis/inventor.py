"""Invents corpora of MANtIS with what real files have: floats, NaN, missing fields, odd numbers, labels of any kind."""

from random import Random

from tests.corpora.mantis.rules import Talk, Talks

NUMBERS = [4376.0, 12, 4376.5, "7", None, float("nan")]
VOTES = ["3", 3, "-1", "x", None, 2.5]
IDS = ["11", "11-101.0", "11_101", "?", 5, None]
TIMES = ["2012-03-04T05:06:07.890", "2012-03-04T05:06:07", "yesterday", None]
LABELS = [["OQ"], ["PA"], ["PA", "FD"], ["PF", "GG"], [""], [], None]


class Inventor:
    """Makes a corpus of some texts; the same number gives the same corpus."""

    def __init__(self, texts: list[str], seed: int) -> None:
        self.texts, self.random = texts, Random(seed)  # noqa: S311 - invented data

    def utterance(self, index: int, role: str) -> Talk:
        """Make an utterance; its values may be missing, of other types, or in another order."""
        some = self.random
        shift = some.choice([0] * 12 + [1, -1, 3, -9])
        fields = {
            "utterance": some.choice(self.texts),
            "utterance_time": some.choice(TIMES),
            "utterance_pos": index + 1 + shift,
            "actor_type": role,
            "user_name": some.choice([*self.texts[:3], None, float("nan")]),
            "user_id": some.choice(NUMBERS),
            "votes": some.choice(VOTES),
            "id": some.choice(IDS),
            "is_answer": some.choice([0, 0, 1, "0", None]),
        }
        for name in some.choice([[], [], [], ["user_id"], ["votes", "id"], ["user_name", "utterance_time"]]):
            del fields[name]
        if some.random() < 0.05:
            fields["more"] = some.choice([1.50, [1, {"a": None}], "x"])
        return fields if some.random() < 0.8 else dict(some.sample(list(fields.items()), len(fields)))

    def talk(self, *, is_plain: bool) -> Talk:
        """Make a dialogue; a plain one surely gives a context."""
        some = self.random
        roles = ["user", "agent", "user", "agent", "user"]
        if not is_plain:
            length = some.randrange(30 if some.random() < 0.1 else 9)
            roles = ["user", *some.choices(["user", "agent", "agent", "bot"], k=length)]
        talk = {
            "category": some.choice(["apple", "gis", "no site"]),
            "title": some.choice([*self.texts, None]),
            "dialog_time": some.choice(TIMES),
            "has_concatenated_utterances": some.choice([0, 1, True]),
            "utterances": [self.utterance(index, role) for index, role in enumerate(roles)],
        }
        if is_plain:
            for index, utterance in enumerate(talk["utterances"]):
                utterance["utterance_pos"] = index + 1
        return talk

    def plain(self) -> Talk:
        """Make a dialogue in which nothing is unusual, as most of the publisher's are."""
        some = self.random
        day, size = f"2012-{some.randint(1, 12):02}-{some.randint(1, 28):02}", some.randint(4, 9)
        people = [(some.choice(self.texts), float(some.randrange(20))) for _ in range(2)]
        utterances = [
            {
                "utterance": some.choice(self.texts),
                "utterance_time": f"{day}T{index:02}:{some.randrange(60):02}:07.{some.randrange(1000):03}",
                "utterance_pos": index + 1,
                "actor_type": ("user", "agent")[index % 2],
                "user_name": people[index % 2][0],
                "user_id": people[index % 2][1],
                "votes": str(some.randrange(99)),
                "id": some.choice(IDS[:3]),
                "is_answer": 0,
            }
            for index in range(size)
        ]
        return {
            "category": some.choice(["apple", "gis"]),
            "title": some.choice(self.texts),
            "dialog_time": utterances[0]["utterance_time"],
            "utterances": utterances,
            "has_concatenated_utterances": some.randrange(2),
        }

    def talks(self) -> Talks:
        """Make the dialogues of a split: one that surely gives a context, odd ones, and plain ones between them."""
        keys = [str(self.random.randrange(40_000)) for _ in range(5)] + ["10298"]
        makers = [lambda: self.talk(is_plain=True), self.plain, lambda: self.talk(is_plain=False)]
        return {key: makers[index % len(makers)]() for index, key in enumerate(dict.fromkeys(keys))}

    def marked(self, talks: Talks) -> Talks:
        """Return the intent file of a split: some dialogues are labelled, one in ten has other words."""
        some, intents = self.random, {}
        for key, talk in talks.items():
            utterances = [dict(utterance) for utterance in talk["utterances"]]
            intents[key] = talk | {"utterances": utterances}
            if some.random() < 0.7:
                intents[key]["has_intent_labels"] = True
                for utterance in utterances:
                    if some.random() < 0.95:
                        utterance["intent"] = some.choice(LABELS)
            if some.random() < 0.1:
                utterances[0]["utterance"] += " and more"
        return intents

    def negatives(self, number: int) -> list[str]:
        """Draw negatives; some are repeated."""
        return [f"{self.random.choice(self.texts)}{self.random.choice(['', '!', index])}" for index in range(number)]
