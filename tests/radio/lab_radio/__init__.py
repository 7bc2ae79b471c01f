"""Radio calls: invented talks of boats, a file for each watch."""

from talkhouse.corpus import Corpus, Exempt, Rule, Scheme, whole_files

from .read import ACTS, SPLITS, read
from .write import write_record

CORPUS = Corpus(
    api=1,
    id="radio_calls",
    version=1,
    title="Radio calls",
    description="Invented talks of boats by radio.",
    homepage="https://example.org/radio-calls",
    licence="CC0-1.0",
    citation="Nobody (2026): Radio calls.",
    languages=("en",),
    files="<split>/<watch>.log: a line 'channel N', then a line 'HH:MM NAME> text {act}' for each call",
    splits=SPLITS,
    schemes=(Scheme("radio_calls.act", "What a call does; one of the crew.", "turn", ACTS),),
    rules=(Rule("RC-01", "reject_file", "No channel, or a line that is no call.", "Fix the file."),),
    common_rules=("TH-02",),
    exceptions=(Exempt("no_talk_is_repeated_in_another_split", "train/test", "Boats say the same every day."),),
    has_record_per_file=True,
    read=read,
    write=whole_files(write_record),
    write_record=write_record,
)
