"""DeliData: groups of people solve a card puzzle in a chat; messages are labelled by what they do for deliberation."""

from talkhouse.ingest.corpora.delidata.read import read
from talkhouse.ingest.corpora.delidata.write import write_record
from talkhouse.ingest.corpus import Corpus, about
from talkhouse.ingest.stored_record import whole_files

CORPUS = Corpus(
    id="delidata",
    version=6,
    **about(__file__),
    splits={"all": None},
    has_record_per_file=True,
    read=read,
    write=whole_files(write_record),
    write_record=write_record,
)
