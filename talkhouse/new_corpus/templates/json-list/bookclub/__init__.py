"""Book Club: invented talks about books, tagged with whatever the annotators thought of."""

from talkhouse.corpus import Corpus, Exempt, Rule, Scheme

from .format import MENTIONED, SPLITS
from .read import read
from .write import write, write_record

CORPUS = Corpus(
    id="bookclub",  # the folder's name, the views' schema, and the beginning of every key
    version=1,  # raise it when read() changes what it yields
    title="Book Club",
    description="Invented talks about books.",
    homepage="https://example.org/bookclub",
    licence="CC0-1.0",
    citation="Nobody (2026): Book Club.",
    languages=("en",),
    files="<split>.json, for the splits train and test: a list of talks",
    splits=SPLITS,
    schemes=(
        Scheme("bookclub.tag", "What an utterance is about, in the annotator's own words.", "turn", kind="multi_label"),
        Scheme("bookclub.mention", "What a span of an utterance names.", "turn", MENTIONED, kind="multi_label"),
    ),
    rules=(
        Rule(
            "BOOKCLUB-01",
            "reject_dialogue",
            "A talk of another form, with its fields in another order, or a span outside of its text.",
            "Fix the talk.",
        ),
        Rule("BOOKCLUB-02", "warn", "A file of the same name came before: it makes the examples.", "Remove one."),
    ),
    exceptions=(Exempt("labels_are_declared", "bookclub.tag", "Annotators write what they like."),),
    read=read,
    write=write,
    write_record=write_record,
)
