"""Dialogues out of posts and comments, as the authors' code puts them together, and why the others are none.

Sentiment is VADER's compound score as NLTK 3.4 gives it, which the authors had: NLTK's class, with what later versions
changed put back, and the lexicon that the package ``vaderSentiment`` ships, with the entries put back in which it
differs from NLTK's: so nothing is downloaded.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import groupby
from math import isfinite
from typing import Any, NamedTuple

from talkhouse.ingest.corpora.mantis.format import PLACEHOLDER, SITES
from talkhouse.ingest.corpora.mantis.make.site import LAST, Comment, Dump, PostedAnswer, Question
from talkhouse.ingest.corpus import WrongInput

_TAG = re.compile(r"<(?!a|br|blockquote|pre|code|/blockquote|/pre|/code)[^>\n]*>?")
"""Takes the rest of a line too where nothing closes a tag, for there is no other in it."""
_GLUED = str.maketrans("", "", "\n\r\t")
_LINK = re.compile(r"href|https?://[A-Za-z0-9$-_! ]")


def clean(text: str) -> str:
    """Remove tags but for links, line breaks, quotations and code; then line feeds, carriage returns and tabs.

    A tag is what stands between ``<`` and the next ``>`` of a line, in plain text too; entities stay as they are.
    """
    return _TAG.sub(lambda tag: "" if tag[0][-1] == ">" else tag[0], text).translate(_GLUED) or PLACEHOLDER


def has_link(text: str) -> bool:
    """Whether there is a web address, or the letters ``href``."""
    return _LINK.search(text) is not None


def is_edited(text: str) -> bool:
    """Whether a text says that it was edited or is deprecated; ``credit:`` is taken for it, as the authors do."""
    text = text.lower()
    return "edit:" in text or "deprecated:" in text


USER, AGENT = "user", "agent"
_NAN = float("nan")
"""How the authors' code writes what is missing."""

REASONS = {
    "without_owner": "the account of who answered is gone",
    "flagged": "somebody voted that the answer is offensive or spam",
    "question_missing": "there is no such question",
    "question_without_owner": "the account of who asked is gone",
    "question_flagged": "somebody voted that the question is offensive or spam",
    "by_asker": "the asker answered",
    "only_lost_comments": "all of its comments are by accounts that are gone",
    "more_than_two_people": "more than two people take part",
    "one_turn": "who answered did not speak again after the asker",
    "no_link": "no utterance of the one who answers has a link",
    "edited": "an utterance of the one who answers says that it was edited or is deprecated",
    "negative_feedback": "the asker's last words are below the site's threshold",
}
"""Why an answer gives no dialogue, in the order in which this is asked."""

TIED = "answers_at_one_time"
UNLISTED = "people_not_in_users"
"""Kinds of findings."""


class RawUtterance(NamedTuple):
    """An utterance before its text is cleaned."""

    user: float
    text: str
    time: str | None
    score: str | None
    id: str


@dataclass
class AnswerCounts:
    """How many answers of a site there were, gave a dialogue, and did not, by reason."""

    seen: int = 0
    used: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


class Builder:
    """Makes the dialogues of one site."""

    def __init__(self, dump: Dump, category: str, threshold: float, score: Callable[[str], float]) -> None:
        """``threshold``: the lowest sentiment, from -1 to 1, of a last utterance that is the asker's."""
        self._dump, self._category, self._threshold, self._score = dump, category, threshold, score
        self.counts = AnswerCounts()
        self._unlisted: set[float] = set()

    def dialogues(self) -> Iterator[dict[str, Any]]:
        """Yield the dialogues in the publisher's order and form, and count what happens to each answer."""
        answers: defaultdict[int, list[PostedAnswer]] = defaultdict(list)
        for answer in self._dump.answers:
            self.counts.seen += 1
            reason = self._no_question(answer)
            if reason is None and answer.question is not None:
                answers[answer.question].append(answer)
            else:
                self.counts.dropped[reason or ""] += 1
        talked_about = []
        for key, own in answers.items():
            question = self._dump.questions[key]
            if any(answer.body is not None for answer in own):
                talked_about.append(question)
            else:
                self.counts.dropped.update([self._no_talk(question, answer) for answer in own])
        for question in sorted(talked_about, key=self._order):
            text = self._dump.text(question)
            for _, tied in groupby(sorted(answers[question.id], key=_time), key=_time):
                yield from self._of_answers(question, text, list(tied))

    def _no_question(self, answer: PostedAnswer) -> str | None:
        """Return why an answer has no question to go with, if that is so."""
        dump = self._dump
        if answer.user is None:
            return "without_owner"
        if answer.id in dump.flagged:
            return "flagged"
        if answer.question in dump.without_owner:
            return "question_without_owner"
        if answer.question is None or answer.question not in dump.questions:
            return "question_missing"
        if answer.question in dump.flagged:
            return "question_flagged"
        return "by_asker" if dump.questions[answer.question].user == answer.user else None

    def _order(self, question: Question) -> tuple[str, str, int]:
        """Order questions by their time, then by their own first comment's, then as the file has them."""
        own = self._dump.comments.get(question.id, ())
        first = min((comment.time or LAST for comment in own), default=LAST)
        return question.time or LAST, first, question.place

    def _of_answers(self, question: Question, text: str, tied: list[PostedAnswer]) -> Iterator[dict[str, Any]]:
        """Make the dialogues of the answers of a question that have one time, nearly always one answer."""
        reasons: dict[int, list[str | None]] = {answer.id: [] for answer in tied}
        for answer, comments in self._runs(tied):
            if answer.body is None:
                reasons[answer.id].append(self._no_talk(question, answer))
                continue
            utterances = _utterances(question, answer, text, comments)
            glued = _glued(utterances)
            reason = self._broken(question, glued)
            reasons[answer.id].append(reason)
            if reason is None:
                yield self._dialogue(question, glued, is_glued=len(glued) < len(utterances))
        for each in reasons.values():
            if None in each:
                self.counts.used += 1
            else:
                self.counts.dropped[each[0] if each and each[0] else "only_lost_comments"] += 1

    def _runs(self, tied: list[PostedAnswer]) -> Iterator[tuple[PostedAnswer, list[Comment]]]:
        """Yield each answer with its comments by time; answers of one time again wherever their comments alternate.

        The authors' code begins a dialogue wherever the answer is another than in the row before.
        """
        rows: list[tuple[PostedAnswer, Comment | None]] = []
        for answer in sorted(tied, key=lambda answer: answer.place):
            comments = self._dump.comments.get(answer.id)
            if comments:
                rows += [(answer, comment) for comment in comments if comment.user is not None]
            else:
                rows.append((answer, None))
        rows.sort(key=lambda row: (row[1].time if row[1] else None) or LAST)
        runs = [list(run) for _, run in groupby(rows, key=lambda row: row[0].id)]
        if len(runs) > len(tied):
            self._dump.report(TIED, f"answers {', '.join(str(answer.id) for answer in tied)}")
        for run in runs:
            yield run[0][0], [comment for _, comment in run if comment]

    def _no_talk(self, question: Question, answer: PostedAnswer) -> str:
        """Return why the people of an answer can't have had a dialogue; needs no text."""
        people = {comment.user for comment in self._dump.comments.get(answer.id, ())}
        if people == {None}:
            return "only_lost_comments"
        return "more_than_two_people" if people - {answer.user, question.user, None} else "one_turn"

    def _broken(self, question: Question, utterances: Sequence[RawUtterance]) -> str | None:
        """Name the first of the README's conditions that a dialogue does not meet, the cheapest first."""
        answers = [utterance.text for utterance in utterances if utterance.user != question.user]
        if len({utterance.user for utterance in utterances}) > 2:
            return "more_than_two_people"
        if len(answers) < 2:
            return "one_turn"
        if not any(map(has_link, answers)):
            return "no_link"
        if any(map(is_edited, answers)):
            return "edited"
        ends_with_asker = utterances[-1].user == question.user
        return "negative_feedback" if ends_with_asker and self._score(utterances[-1].text) < self._threshold else None

    def _dialogue(self, question: Question, utterances: Sequence[RawUtterance], *, is_glued: bool) -> dict[str, Any]:
        """Write a dialogue as the authors' code does, fields in its order."""
        return {
            "category": self._category,
            "title": _or_nan(question.title),
            "dialog_time": _or_nan(question.time),
            "utterances": [
                {
                    "utterance": utterance.text,
                    "utterance_time": _or_nan(utterance.time),
                    "utterance_pos": position,
                    "actor_type": USER if utterance.user == question.user else AGENT,
                    "user_name": self._name(utterance.user),
                    "user_id": utterance.user,
                    "votes": _or_nan(utterance.score),
                    "id": utterance.id,
                    "is_answer": 0,  # of every utterance: the authors compare a number with a text
                }
                for position, utterance in enumerate(utterances, 1)
            ],
            "has_concatenated_utterances": int(is_glued),
        }

    def _name(self, user: float) -> str | float:
        if user not in self._dump.names and user not in self._unlisted:
            self._unlisted.add(user)
            self._dump.report(UNLISTED, f"user {user:.0f}")
        return self._dump.names.get(user, _NAN)


def _utterances(question: Question, answer: PostedAnswer, text: str, comments: Sequence[Comment]) -> list[RawUtterance]:
    """List what was said: the question, the answer, and the comments by time; the answer is second in any case."""
    assert answer.user is not None  # noqa: S101 - such an answer has no question to go with
    return [
        RawUtterance(question.user, clean(text), question.time, question.score, str(question.id)),
        RawUtterance(answer.user, clean(answer.body or ""), answer.time, answer.score, str(answer.id)),
        *(
            RawUtterance(
                comment.user, clean(comment.text), comment.time, comment.score, f"{answer.id}-{float(comment.id)}"
            )
            for comment in comments
            if comment.user is not None
        ),
    ]


def _glued(utterances: Sequence[RawUtterance]) -> list[RawUtterance]:
    """Join neighbours by one person without a blank; all else is that of the first."""
    joined = []
    for _, run in groupby(utterances, key=lambda utterance: utterance.user):
        first, *others = run
        joined.append(first._replace(text="".join([first.text, *(other.text for other in others)])))
    return joined


def _time(answer: PostedAnswer) -> str:
    return answer.time or LAST


def _or_nan(text: str | None) -> str | float:
    return _NAN if text is None else text


_LEXICON = "vader_lexicon.txt"
_ADDED = ("flawed", "heart", "hearts")
"""Words that NLTK's lexicon does not have."""

_CHANGED = {":p": 1.4, "badass": -0.6}
"""Words that have another value in NLTK's lexicon."""

PACKAGES = ("nltk", "vaderSentiment")
"""The packages whose versions a manifest names; both are in the extra ``make``."""


@cache
def scorer() -> Callable[[str], float]:
    """Return the function that scores a text. Raises ImportError where the packages are not installed."""
    # Needs a second, which other commands spare.
    from nltk.sentiment.vader import SentimentIntensityAnalyzer, VaderConstants

    class Analyzer(SentimentIntensityAnalyzer):  # type: ignore[misc]
        def __init__(self) -> None:
            self.lexicon = _lexicon()
            self.constants = VaderConstants()

        def _but_check(self, words: list[str], sentiments: list[float]) -> list[float]:
            """Halve what comes before a "but", and raise what follows; a capitalised "But" is none (NLTK 3.4).

            A value is looked up by itself, so of two equal ones the first is changed twice.
            """
            word = next((word for word in ("but", "BUT") if word in words), None)
            if word is None:
                return sentiments
            but = words.index(word)
            for sentiment in sentiments:
                index = sentiments.index(sentiment)
                if index != but:
                    sentiments[index] = sentiment * (0.5 if index < but else 1.5)
            return sentiments

    analyzer = Analyzer()
    return lambda text: float(analyzer.polarity_scores(text)["compound"])


def _lexicon() -> dict[str, float]:
    """Read the lexicon; a word that is repeated has its last value."""
    lines = (files("vaderSentiment") / _LEXICON).read_text(encoding="utf-8").split("\n")
    values = {word: float(value) for word, value, *_ in (line.split("\t") for line in lines if line.strip())}
    return {word: value for word, value in values.items() if word not in _ADDED} | _CHANGED


_OTHER = 0.05
"""VADER's own line between neutral and positive; the authors' code stops at another site."""


class Threshold(NamedTuple):
    """A site's threshold, and whose it is."""

    value: float
    source: str


def thresholds(sites: Iterable[str], chosen: Mapping[str, float]) -> dict[str, Threshold]:
    """Return the threshold of each site. Raises WrongInput for one that no site has, or that is no score."""
    names = list(sites)
    for name, value in chosen.items():
        if name not in names:
            raise WrongInput(
                f"--threshold names the site {name}, which is not made",
                expected="one of: " + ", ".join(names),
                next_step="name it as its dump is named",
            )
        if not isfinite(value) or abs(value) > 1:
            raise WrongInput(f"the threshold of {name} is no score", expected="a number from -1 to 1", found=str(value))
    return {name: _threshold(name, chosen) for name in names}


def _threshold(name: str, chosen: Mapping[str, float]) -> Threshold:
    if name in chosen:
        return Threshold(chosen[name], "--threshold")
    if name in SITES:
        return Threshold(SITES[name], "the authors'")
    return Threshold(_OTHER, "VADER's line for positive; the authors have none for this site")
