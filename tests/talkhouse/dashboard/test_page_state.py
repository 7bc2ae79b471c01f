"""What an address says is read and written back without loss, and nothing else is in it."""

from dataclasses import fields

from hypothesis import given
from hypothesis import strategies as st

from talkhouse.dashboard.content.search import SearchState
from talkhouse.dashboard.outcomes import ErrorsState
from talkhouse.dashboard.page_state import PageState
from talkhouse.dashboard.reading.selection import ReadState

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
