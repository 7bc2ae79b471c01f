"""Ask: a question of choices alone is answered with its query, or refused with the reason; the address has it all."""

from dataclasses import fields
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from talkhouse.dashboard.content.search import SearchState
from talkhouse.dashboard.outcomes import ErrorsState
from talkhouse.dashboard.page_state import PageState
from talkhouse.dashboard.reading.selection import ReadState
from tests.talkhouse.dashboard.pages import draw, messages

SCHEMES = "Turn agreement: Entropy"


@pytest.mark.usefixtures("served")
def test_an_average_that_means_nothing_is_refused_until_one_is_chosen() -> None:
    page = draw("ask", show=SCHEMES)
    assert "one scheme" in page.warning[0].value
    assert not messages(page)
    chosen = page.selectbox(key="only_scheme")
    page = chosen.select(chosen.options[0]).run()
    assert not page.warning
    assert f"'{chosen.options[0]}'" in messages(page)[-1]


@pytest.mark.slow
def test_an_address_has_a_whole_question_and_releases_are_never_added_up(served: Path) -> None:
    page = draw("ask", show="Annotations: Labels", by="Split", over="Release", **{"as": "Table"})
    assert 'group by "release", "split"' in messages(page)[-1]
    page = draw("ask", show="Annotations: Labels", by="Split")
    assert "where is_default" in messages(page)[-1]
    with duckdb.connect(str(served), read_only=True) as con:
        assert con.execute(messages(page)[-1]).fetchall()


@pytest.mark.slow
@pytest.mark.usefixtures("empty")
def test_of_a_warehouse_without_corpora_nothing_is_asked() -> None:
    assert "nothing to ask" in draw("ask").info[0].value


@pytest.mark.usefixtures("served")
def test_a_page_that_is_asked_nothing_begins_with_an_example() -> None:
    page = draw("ask")
    assert 'group by "scheme", "split"' in messages(page)[-1]
    page = page.selectbox(key="by").select_index(None).run()
    assert 'group by "scheme"\n' in messages(page)[-1]


# What an address says is read and written back without loss, and nothing else is in it.

KINDS: tuple[type[PageState], ...] = (ReadState, SearchState, ErrorsState)
NAMES = sorted({"unknown"}.union(*({*kind.FACETS, *(field.name for field in fields(kind))} for kind in KINDS)))
VALUES = st.lists(st.sampled_from(["", "0", "1", "12", "-3", "9" * 10, "True", "٣"]) | st.text(max_size=5), max_size=3)


@given(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(NAMES), VALUES), st.text(max_size=3))
def test_reading_an_address_and_writing_it_are_inverse(
    kind: type[PageState], parameters: dict[str, list[str]], value: str
) -> None:
    state = kind.from_parameters(parameters)
    assert kind.from_parameters(state.query()) == state
    known = {*kind.FACETS, *(field.name for field in fields(kind))}
    assert state.query().keys() <= parameters.keys() & known
    facet = kind.FACETS[0]
    there, back = state.toggled(facet, value), state.toggled(facet, value).toggled(facet, value)
    assert (value in there.choices.get(facet, ())) != (value in state.choices.get(facet, ()))
    assert {name: {*those} for name, those in back.choices.items()} == {
        name: {*those} for name, those in state.choices.items()
    }
    assert kind.from_parameters(there.query()) == there
