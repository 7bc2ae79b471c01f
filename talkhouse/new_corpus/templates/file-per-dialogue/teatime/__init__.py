"""Tea Time: invented dialogues over tea, and how each utterance was taken."""

from talkhouse.corpus import Corpus, Rule, Scheme, whole_files

from .read import SPLITS, read
from .write import write_record

CORPUS = Corpus(
    id="teatime",  # the folder's name, the views' schema, and the beginning of every key
    version=1,  # raise it when read() changes what it yields
    title="Tea Time",
    description="Invented dialogues over tea.",
    homepage="https://example.org/teatime",
    licence="CC0-1.0",
    citation="Nobody (2026): Tea Time.",
    languages=("en",),
    files="<split>/<dialogue>.txt: a line '# topic', then a line 'Name: text' per utterance",
    splits=SPLITS,
    schemes=(
        Scheme(
            "teatime.mood", "How an utterance was taken.", "turn", {"+": "Well.", "-": "Badly."}, kind="single_label"
        ),
    ),
    rules=(
        Rule("TEATIME-01", "reject_file", "No topic, a line that nobody says, or no final newline.", "Fix the file."),
    ),
    common_rules=("TH-02", "TH-05"),  # no JSON, so of the common rules only these can be broken
    has_record_per_file=True,
    read=read,
    write=whole_files(write_record),
    write_record=write_record,
)
