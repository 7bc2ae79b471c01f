"""MPChat: Reddit threads about pictures, with the persona of one participant: what else that person posted."""

from talkhouse.ingest.corpora.mpchat.format import SPLITS
from talkhouse.ingest.corpora.mpchat.read import read
from talkhouse.ingest.corpora.mpchat.write import write, write_record
from talkhouse.ingest.corpus import Corpus, about

CORPUS = Corpus(
    id="mpchat", version=7, **about(__file__), splits=SPLITS, read=read, write=write, write_record=write_record
)
