"""Every check of the contract fails where a corpus does not keep to it: whole corpora with one thing wrong in each."""

from collections.abc import Callable
from pathlib import Path

import pytest

from talkhouse.new_corpus import Like, copy
from talkhouse.schema.errors import TalkhouseError
from talkhouse.testing.clauses import Change, line, removed, replaced, write
from talkhouse.testing.contract import CHECKS, ContractOutcome, results
from talkhouse.testing.declaration import OLDEST, problems_in
from talkhouse.testing.subject import CannotCheck, ContractFailure, Subject, subject_of
from tests.lanes import first_quick

LISTS, LINES = Like.JSON_LIST, Like.FILE_PER_DIALOGUE
LOADED = "    return Loaded(location, rows)"
OPENS = "    import socket\n\n    socket.socket().close()\n"
MOOD, BROKEN = "queries/mood.sql", "tests/broken/TOY-01/raw/train/broken.txt"
TOLD = "reject(location, bad, text)"

Begin = Callable[..., Subject]


@pytest.fixture
def begin(tmp_path: Path) -> Begin:
    def run(like: Like, *changes: Change) -> Subject:
        folder = tmp_path / "toy"
        copy(like, "toy", folder)
        for change in changes:
            change(folder)
        return subject_of("toy", folder / "tests", tmp_path / "scratch", ())

    return run


def run(subject: Subject, name: str, case: str | None = None) -> None:
    (check,) = (check for check in CHECKS if check.name == name)
    for attempt in check.runs(subject):
        if case in (None, attempt.case):
            attempt.run(subject)


def moved(folder: Path) -> None:
    (folder / "tests" / "broken" / "TOY-01").rename(folder / "tests" / "broken" / "TOY-02")


def of_a_column(folder: Path) -> None:
    terms = 'licence_terms=(LicenceTerms(spdx="CC0-1.0"), LicenceTerms(part="texts", columns=("toy.mood.txt",))),'
    replaced("__init__.py", '    licence="CC0-1.0",', f'    licence="CC0-1.0",\n    {terms}')(folder)
    replaced("__init__.py", "import Corpus", "import LicenceTerms, Corpus")(folder)


@pytest.mark.parametrize(
    ("name", "like", "change", "message"),
    first_quick(
        [
            ("its_files_come_back_equal", LINES, replaced("write.py", "{turn.text}", "{turn.text[:9]}"), "rain.txt"),
            ("it_is_declared_with_its_licence", LINES, replaced("__init__.py", '"CC0-1.0"', '""'), "no licence"),
            ("its_terms_are_of_columns_that_there_are", LINES, of_a_column, "names a column toy.mood.txt"),
            ("its_readme_has_the_headings", LINES, replaced("README.md", "## Quirks", "## Odd"), "other headings"),
            ("every_rule_has_its_broken_file", LINES, moved, "no broken file of TOY-01"),
            ("every_rule_has_its_broken_file", LINES, write("tests/broken/TOY-2/raw/x", ""), "about no rule"),
            ("every_rule_has_its_clauses", LINES, line("tests/clauses.py", 11, lambda _: None), "other rules"),
            ("the_reader_opens_no_socket", LINES, replaced("read.py", LOADED, OPENS + LOADED), "socket.__new__"),
            ("the_reader_imports_no_database", LINES, replaced("write.py", "def ", "import duckdb\n\ndef "), "duckdb"),
            ("the_sample_loads_whole", LINES, write("sample/train/more.txt", "Milk"), "are refused"),
            ("it_shows_every_scheme_and_split", LINES, removed("sample/test/rain.txt"), "'test', which is declared"),
            (
                "it_shows_every_scheme_and_split",
                LISTS,
                replaced("read.py", "    rows += labels_of(record, talk)\n", ""),
                "not all schemes",
            ),
            ("every_task_has_rows_in_every_split", LINES, replaced("sample/test/rain.txt", " [+]", ""), "no example"),
            (
                "two_builds_give_equal_rows",
                LINES,
                replaced("read.py", "title=topic", "title=str(id(rows))"),
                "dialogues",
            ),
            (
                "the_grain_is_unique",
                LINES,
                replaced(MOOD, "grain: release, split, example_index", "grain: split"),
                "grain",
            ),
            ("views_say_what_they_are", LINES, replaced(MOOD, "--   context:", "-- context,"), "without a meaning"),
            ("a_broken_file_is_told_and_kept", LINES, write(BROKEN, "# Milk\nAnn: Yes.\n"), "no finding of TOY-01"),
            (
                "a_clause_is_told_at_its_place",
                LINES,
                replaced("tests/clauses.py", "no '#", "a '#"),
                "not told as announced",
            ),
            (
                "a_common_rule_is_told_and_kept",
                LISTS,
                replaced("read.py", TOLD, 'reject(location, BadRecord("TOY-01", bad.detail), text)'),
                "none of [0-9]+ broken files .* told as TH-02",
            ),
        ]
    ),
)
def test_a_check_fails(begin: Begin, name: str, like: Like, change: Change, message: str) -> None:
    with pytest.raises(ContractFailure, match=message):
        run(begin(like, change), name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("turns_have_no_gaps", replaced("read.py", "Turn(dialogue_id, index,", "Turn(dialogue_id, index + 1,")),
        ("keys_begin_with_the_id", replaced("read.py", 'DialogueKeys("toy")', 'DialogueKeys("joy")')),
        ("views_say_what_they_are", replaced("queries/tagging.sql", "--   part:", "--   role:")),
        ("tasks_have_the_columns_of_all", replaced("queries/tagging.sql", "    examples.split,\n", "")),
        ("references_are_kept", replaced("read.py", "        rows += speakers.values()\n", "")),
        (
            "rows_are_told_apart",
            replaced("read.py", 'path=f"{input_file.kind}/{location.record_index}"', 'path="same"'),
        ),
    ],
)
def test_what_a_build_refuses_fails_too(begin: Begin, name: str, change: Change) -> None:
    with pytest.raises(TalkhouseError):
        run(begin(LISTS, change), name)


@pytest.mark.slow
def test_a_broken_file_that_nobody_notices_has_to_come_back(begin: Begin) -> None:
    """A reader that now and then takes the last of two values loses the first one."""
    strict = 'talk = decode.exact(text, Talk, rule="TOY-01")'
    lenient = f'if b"t9" in text:\n        return decode.decoder(Talk).decode(text)\n    {strict}'
    with pytest.raises(ContractFailure, match=r"test\.json: the file is different"):
        run(begin(LISTS, replaced("read.py", strict, lenient)), "a_common_rule_is_told_and_kept", "TH-03")


@pytest.mark.slow
def test_a_view_that_spark_can_not_have_is_told(begin: Begin) -> None:
    subject = begin(LINES, replaced(MOOD, "list(text order by turn_index)", "list(text)"))
    with pytest.raises(CannotCheck, match=r"a lake leaves out toy\.mood"):
        run(subject, "views_translate_to_spark")


@pytest.mark.slow
def test_a_view_that_the_oldest_duckdb_does_not_have_is_told(sample: Path) -> None:
    try:
        problems = problems_in(OLDEST, sample, ["bi.turns", "bi.nothing"])
    except CannotCheck as reason:
        pytest.skip(str(reason))
    assert "nothing" in problems.pop("bi.nothing")
    assert problems == {}


@pytest.mark.slow
def test_the_corpus_of_a_benchmark_keeps_to_all_of_it(tmp_path: Path) -> None:
    folder = Path(__file__).parents[3] / "benchmarks" / "service_talks"
    subject = subject_of(folder.name, folder / "tests", tmp_path, ())
    failures = [result for result in results(subject) if result.outcome is ContractOutcome.FAILS]
    subject.close()
    assert failures == []


@pytest.mark.slow
@pytest.mark.parametrize("like", Like)
def test_what_one_begins_with_keeps_to_all_of_it(begin: Begin, like: Like) -> None:
    subject = begin(like)
    subject.regen = True
    found = list(results(subject))
    subject.close()
    unkept = [result for result in found if result.outcome is not ContractOutcome.HOLDS]
    assert [(result.name, result.detail) for result in unkept if "is not installed" not in result.detail] == []
    assert len({result.about for result in found}) == len(CHECKS)
