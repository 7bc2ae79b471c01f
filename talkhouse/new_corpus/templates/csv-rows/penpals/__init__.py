"""Pen Pals: invented exchanges of letters, and how each letter sounds."""

from talkhouse.corpus import Corpus, Rule, Scheme

from .format import SPLITS, TONES
from .read import read
from .write import write, write_record

CORPUS = Corpus(
    id="penpals",  # the folder's name, the views' schema, and the beginning of every key
    version=1,  # raise it when read() changes what it yields
    title="Pen Pals",
    description="Invented exchanges of letters.",
    homepage="https://example.org/penpals",
    licence="CC0-1.0",
    citation="Nobody (2026): Pen Pals.",
    languages=("en",),
    files="<split>.csv, for the splits train and test: exchange, by, text, tone; a row for each letter",
    splits=SPLITS,
    schemes=(Scheme("penpals.tone", "How a letter sounds.", "turn", TONES, kind="single_label"),),
    rules=(
        Rule("PENPALS-01", "reject_file", "Other columns, cells or an order of rows.", "Fix the file."),
        Rule("PENPALS-02", "reject_dialogue", "A tone that nobody has declared.", "Fix the exchange."),
        Rule("PENPALS-03", "warn", "A file of the same name came before: it makes the examples.", "Remove one."),
    ),
    common_rules=("TH-02", "TH-05"),  # no JSON, so of the common rules only these can be broken
    read=read,
    write=write,
    write_record=write_record,
)
