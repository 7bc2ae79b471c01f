"""Paths of ``corpus.toml``: names, names in quotes, places and every item of a list; written ones read as the same."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from talkhouse.ingest.declared.declaration.table import BadPath, Path, path_text, read_path


@settings(max_examples=80)
@given(
    st.lists(
        st.none() | st.text(max_size=5) | st.sampled_from([..., 0, 12, "$", "#", "a b", "a'b", "a\\", "]", "*", "0"]),
        max_size=4,
    )
)
def test_a_path_that_is_written_reads_as_the_same(names: list[Any]) -> None:
    path = tuple(names)
    text = path_text(path)
    assert read_path(text).names == path
    assert read_path(text if text.startswith("$") else f"${text if text.startswith('[') else '.' + text}").names == path


@pytest.mark.parametrize(
    ("text", "names", "from_record"),
    [
        *(("id", ("id",), False), ("labels.quality.value", ("labels", "quality", "value"), False)),
        *(("$.annotations[*]", ("annotations", None), True), ("a[0].b", ("a", 0, "b"), False)),
        *(("frames[*].slots[*]", ("frames", None, "slots", None), False), ("reply-to", ("reply-to",), False)),
        *(("['user utterance']", ("user utterance",), False), ('a["b.c"].d', ("a", "b.c", "d"), False)),
        *((r"['it\'s']", ("it's",), False), ("_id.$oid", ("_id", "$oid"), False), ("$", (), True)),
        *(("$['a']", ("a",), True), ("[*]", (None,), False), ("[1]", (1,), False), ("$[0]", (0,), True)),
        *(("a.*", ("a", ...), False), ("*", (...,), False), ("$.*.b[*]", (..., "b", None), True)),
    ],
)
def test_a_path_is_names_and_lists(text: str, names: tuple[object, ...], from_record: bool) -> None:
    assert read_path(text) == Path(names, from_record)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        *(("", "leads nowhere"), ("slots[*", r"'slots\[\*': a '\[' without its '\]'"), ("a[-1].b", "from the front")),
        *(("a..b", "no name behind"), ("a.", "no name behind")),
        *((text, "can't be read from") for text in ("a[1234567890]", "a.*b", "a[?(@.b)]", "a]")),
    ],
)
def test_what_is_no_path_is_named(text: str, problem: str) -> None:
    with pytest.raises(BadPath, match=problem):
        read_path(text)
