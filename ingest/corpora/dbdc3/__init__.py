"""DBDC3: human-bot dialogues; about 30 annotators say of each system turn whether the dialogue broke down."""

from talkhouse.ingest.corpora.dbdc3.format import SPLITS
from talkhouse.ingest.corpora.dbdc3.read import read
from talkhouse.ingest.corpora.dbdc3.write import write_record
from talkhouse.ingest.corpus import Corpus, about
from talkhouse.ingest.stored_record import whole_files

CORPUS = Corpus(
    id="dbdc3",
    version=7,
    **about(__file__),
    splits=SPLITS,
    has_record_per_file=True,
    read=read,
    write=whole_files(write_record),
    write_record=write_record,
)
