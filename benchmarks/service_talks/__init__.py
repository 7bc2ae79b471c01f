"""Service Talks: invented talks of a user and a system about services, with a frame for each service of a turn."""

from talkhouse.corpus import Corpus, Rule, Scheme

from .format import SPLITS
from .read import read
from .write import write, write_record

_ACTS = {
    "INFORM": "Says a value.",
    "REQUEST": "Asks for a value.",
    "CONFIRM": "Asks whether values are right.",
    "OFFER": "Offers values.",
}

CORPUS = Corpus(
    id="service_talks",
    version=1,
    title="Service Talks",
    description="Invented talks about services, with acts, slots and intents.",
    homepage="https://example.org/service_talks",
    licence="CC0-1.0",
    citation="Nobody (2026): Service Talks.",
    languages=("en",),
    files="<split>/dialogues_<number>.json and <split>/schema.json, for the splits train, dev and test",
    splits=SPLITS,
    schemes=(
        Scheme("service_talks.act", "What a turn does, with a slot and its values.", "turn", _ACTS, kind="structure"),
        Scheme("service_talks.slot", "The slot that a span is the value of.", "turn", kind="structure"),
        Scheme("service_talks.intent", "What the user wants of a service.", "turn", kind="multi_label"),
    ),
    rules=(
        Rule("SERVICETALKS-01", "reject_dialogue", "Another form, or fields in another order.", "Fix the talk."),
        Rule("SERVICETALKS-02", "warn", "A file of the same name came before.", "Remove one."),
    ),
    read=read,
    write=write,
    write_record=write_record,
)
