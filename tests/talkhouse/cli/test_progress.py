"""The progress bar: what it says of records and bytes, on a terminal only."""

import io

import pytest
from rich.console import Console

from talkhouse.cli.terminal import progress
from talkhouse.cli.terminal.progress import ProgressBar


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a terminal of 120 columns gets; the bar is drawn at each step."""
    stream = io.StringIO()
    monkeypatch.setattr(progress, "errors", Console(file=stream, force_terminal=True, width=120))
    monkeypatch.setattr(progress, "_REDRAWN", 1e-9)
    return stream


@pytest.mark.parametrize(
    ("ahead", "done", "shown"),
    [
        ({"size": 4_000_000}, (12, 1_000_000), ["12 records, 1.0 MB of 4.0 MB, ", " a second"]),
        ({"records": 2_000}, (1_200, 5_000), ["1,200 of 2,000 records, 5.0 kB, ", " a second"]),
        ({"unit": "rows"}, (70_000,), ["70,000 rows, ", " a second"]),
    ],
)
def test_it_counts_what_is_done(
    terminal: io.StringIO, ahead: dict[str, int], done: tuple[int, ...], shown: list[str]
) -> None:
    with ProgressBar() as bar:
        bar.begin("reading [toy]", **ahead)
        bar.advance(*done)
    assert "reading [toy]" in terminal.getvalue()
    assert all(words in terminal.getvalue() for words in shown), terminal.getvalue()


def test_elsewhere_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(progress, "errors", Console(file=stream))
    with ProgressBar() as bar:
        bar.begin("exporting", records=10)
        bar.advance(10)
    assert stream.getvalue() == ""
