"""Blended Skill Talk: people talk in pairs, one of them guided by the suggestions of three models."""

from talkhouse.ingest.corpora.blended_skill_talk.format import SPLITS
from talkhouse.ingest.corpora.blended_skill_talk.read import read
from talkhouse.ingest.corpora.blended_skill_talk.write import write, write_record
from talkhouse.ingest.corpus import Corpus, about

CORPUS = Corpus(
    id="blended_skill_talk",
    version=8,
    **about(__file__),
    splits=SPLITS,
    read=read,
    write=write,
    write_record=write_record,
)
