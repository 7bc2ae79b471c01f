"""Keys and what is stated again: same content, same key; other content, another key, or kept with its record."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from talkhouse.ingest.keys import Keys, Ledger, Memory, Restatements, digest


def test_the_first_content_keeps_the_plain_key() -> None:
    keys = Keys()
    first, other = digest("U", "hi"), digest("U", "ho")
    assert keys.assign("toy:1", first) == ("toy:1", True)
    assert keys.assign("toy:1", first) == ("toy:1", False)
    key, is_new = keys.assign("toy:1", other)
    assert (key, is_new) == (f"toy:1~{other.hex()[:8]}", True)
    assert keys.assign("toy:1", other) == (key, False)
    assert keys.assign("toy:1", first) == ("toy:1", False)


def test_two_contents_with_the_same_eight_digits_stay_apart() -> None:
    keys = Keys()
    plain, alike, two = b"p" * 16, b"same" + b"1" * 12, b"same" + b"2" * 12
    keys.assign("toy:1", plain)
    first, _ = keys.assign("toy:1", alike)
    second, is_new = keys.assign("toy:1", two)
    assert is_new
    assert second.startswith(first)
    assert keys.assign("toy:1", two) == (second, False)


def test_texts_do_not_run_together() -> None:
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("") != digest()


@given(st.lists(st.tuples(st.sampled_from("ab"), st.text(max_size=3))))
def test_a_key_stands_for_one_content(pairs: list[tuple[str, str]]) -> None:
    keys = Keys()
    given_out: dict[str, tuple[str, str]] = {}
    for name, text in pairs:
        key, is_new = keys.assign(name, digest(text))
        assert is_new == (key not in given_out)
        assert given_out.setdefault(key, (name, text)) == (name, text)
    assert len(given_out) == len(set(pairs))


def test_the_first_record_and_those_that_agree_with_it_keep_nothing() -> None:
    restatements = Restatements()
    first, other = {"/time": Raw(b"1e3"), "/id": "a"}, {"/time": Raw(b"1000.0"), "/id": "a"}
    assert restatements.differing("toy:1", first) == {}
    assert restatements.differing("toy:1", first) == {}
    assert restatements.differing("toy:1", other) == other
    assert restatements.differing("toy:1", first) == {}
    assert restatements.differing("toy:2", other) == {}, "another dialogue"


def test_a_fact_that_is_absent_is_not_one_that_is_null() -> None:
    restatements = Restatements()
    restatements.differing("toy:1", {"/id": None})
    assert restatements.differing("toy:1", {"/time": None}) == {"/time": None}


def test_what_a_reader_would_have_needed_to_know_is_what_others_have_told_under_its_keys() -> None:
    first, second = Memory(Ledger()), Memory(Ledger())
    for memory, words in ((first, b"hi"), (second, b"ho")):
        memory.keys("dialogues").assign("a", words)
        memory.keys("dialogues").assign(words.decode(), words)
        memory.rows("speakers").update({"ann": "Ann", "bo": words})
    known = first.ledger()
    needed = known.contested(second.ledger())
    assert (dict(needed.keys), dict(needed.rows)) == ({"dialogues": {"a": b"hi"}}, {"speakers": {"bo": b"hi"}})
    again = Memory(needed)
    assert again.keys("dialogues").assign("a", b"ho") == (f"a~{b'ho'.hex()}", True)
    again.rows("speakers")["ann"] = "Ann"
    assert not known.contested(again.ledger())
    assert known.repeated(again.ledger()) == {"speakers": ["ann"]}


def test_what_is_kept_beside_a_content_is_not_compared() -> None:
    keys = Keys()
    assert keys.assign("a", digest("x"), beside=b"1") == ("a", True)
    assert keys.assign("a", digest("x"), beside=b"2") == ("a", False)
    assert keys.content("a") == digest("x") + b"1"
