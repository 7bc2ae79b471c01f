"""Subtitles as WebVTT and SubRip: a file is a talk, and what one voice says in a cue is a turn."""

from talkhouse.corpus import Corpus, Rule, whole_files

from .read import read
from .write import write_record

CORPUS = Corpus(
    api=1,
    id="subtitles",
    version=1,
    title="Subtitles",
    description="Talks as subtitles: who speaks, from when to when.",
    homepage="https://example.org/subtitles",
    licence="CC0-1.0",
    citation="Nobody (2026): Subtitles.",
    languages=("en",),
    files="any folders with <talk>.vtt or <talk>.srt, in UTF-8",
    splits={"all": None},
    rules=(
        Rule(
            "SUBTITLES-01",
            "reject_file",
            "No WEBVTT in the first line of a .vtt, or a block that is no cue: no times, or times twice.",
            "Separate cues by a blank line, and let each begin with its times.",
        ),
    ),
    common_rules=("TH-02", "TH-05"),
    has_record_per_file=True,
    read=read,
    write=whole_files(write_record),
    write_record=write_record,
)
