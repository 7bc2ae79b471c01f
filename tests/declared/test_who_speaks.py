"""Who speaks where it stands beside the texts or before them, and what is said of turns that say more than is taken."""

from typing import Any

import pytest

from talkhouse.ingest.declared.declaration import read_declaration
from talkhouse.ingest.rows import Turn
from talkhouse.schema.errors import RegistryError
from tests.declared.rows_loaded import Read, json_lines, json_text, read_back

HEAD = 'title = "Pier"\n'
LINES = """format = "transcript"
[dialogue]
text = "log%s"
%s[lines]
pattern = '(?:.*<log> )?(?<who>[^:]+): (?<said>.*?)(?: </log>)?'
skip = '--- '
[turn]
text = "said"
speaker = "who"
[speaker]
scope = "dialogue"
"""
BESIDE = (
    'format = "dialogue"\n[dialogue]\nturns = "utt"\n[turn]\ntext = "$"\nrole = "$.who[*]"\n[roles]\nida = "user"\n'
)
EVENTS = 'format = "dialogue"\n[dialogue]\nturns = "events"\n[turn]\ntext = "data"\nrole = "who"\n'
PAIRS = 'format = "pairs"\n[pair]\neach = "log[*]"\nprompt = "a"\nresponse = "b"\n'
PAIRS += '[roles]\nprompt = "assistant"\nresponse = "user"\n'
CELLS = 'format = "dialogue"\n[dialogue]\nturns = "cell"\n[turn]\ntext = ["t", "u"]\nrole = "who"\n'
PEOPLE = BESIDE.replace("$.who[*]", "$.who[*].name")
WINDOWS = EVENTS + '[[files]]\npath = "**"\nrepair = "windows1252-utf8"\n'
MESSENGER = EVENTS + '[[files]]\npath = "**"\nrepair = "latin1-utf8"\n'
NOBODY = [("speaker", "Yo"), ("speaker", "So")]
TURN = '[turn]\ntext = "text"\nspeaker = "who"\n'
NODES = 'format = "dialogue"\n[dialogue]\nturns = "log.*"\n[turn]\ntext = "m.parts"\nreply_to = "up"\n'


def loaded(page: str, *records: Any) -> Read:
    return read_back(read_declaration("quay", HEAD + page, "quay/corpus.toml"), {"a.jsonl": json_lines(*records)})


def event(who: str, data: Any, **more: Any) -> dict[str, Any]:
    return {"who": who, "data": data, **more}


@pytest.mark.parametrize(
    ("page", "record", "expected"),
    [
        (LINES % ("", ""), {"log": "Ida: Hi\r\nmore\r\n\r\nOle: Yo\r\n"}, [("Ida", "Hi\r\nmore"), ("Ole", "Yo")]),
        (LINES % ("", ""), {"log": "Ida: Hi\n--- Tuesday\nlost\nOle: Yo"}, [("Ida", "Hi"), ("Ole", "Yo")]),
        (
            LINES % ("[*]", ""),
            {"log": ["Ida: Hi\nOle: Yo", "", "no mark"]},
            [("Ida", "Hi"), ("Ole", "Yo"), ("", "no mark")],
        ),
        (
            LINES % ("", 'separator = " <eos> "\n'),
            {"log": "<log> YOU: a ball <eos> THEM: no </log>"},
            [("YOU", "a ball"), ("THEM", "no")],
        ),
        (BESIDE, {"utt": ["Hi", "Yo"], "who": ["ida", None]}, [("user", "Hi"), ("speaker", "Yo")]),
        (BESIDE, {"utt": ["Hi", "Yo"], "who": ["ida"]}, [("speaker", "Hi"), ("speaker", "Yo")]),
        (PEOPLE, {"utt": ["Hi", "Yo", "So"], "who": [{"name": "ida"}, {}, 7]}, [("user", "Hi"), *NOBODY]),
        (
            LINES.replace("(?:.*<log> )?(?<who>[^:]+): (?<said>.*?)(?: </log>)?", r"(?<who>\w+)\|>(?<said>(?s:.*))")
            % ("", 'separator = ["<|end|>", "<|"]\n'),
            {"log": "<|a|>Hi\nyou<|end|>\n<|b|>Yo<|end|>"},
            [("a", "Hi\nyou"), ("b", "Yo")],
        ),
        (EVENTS, {"events": [event("a", "Hi"), event("b", {"price": 3})]}, [("a", "Hi"), ("b", "")]),
        (
            EVENTS.replace('"data"', '["data", "blocks"]'),
            {"events": [event("a", "", blocks=[{"thinking": "h"}, {"type": "text", "text": "Yo"}]), event("b", "Hi")]},
            [("a", "Yo"), ("b", "Hi")],
        ),
        (
            PAIRS,
            {"log": [{"a": "", "b": "Inn?"}, {"a": "Which?", "b": "Any."}]},
            [("user", "Inn?"), ("assistant", "Which?"), ("user", "Any.")],
        ),
        (CELLS, {"cell": '[{"who": "a", "t": "", "u": "Hi"}, {"who": "b", "t": "Yo"}]'}, [("a", "Hi"), ("b", "Yo")]),
        (
            MESSENGER,
            {"events": [event("Ã\x85", "bÃ¥t"), event("é", "é"), event("x", "båt Ã¥ 1e3")]},
            [("Å", "båt"), ("é", "é"), ("x", "båt Ã¥ 1e3")],
        ),
        (
            WINDOWS,
            {"events": [event("JosÃ©", "itâ€™s â€œitâ€\x9d"), event("é", "it€s â€")]},
            [("José", "it\u2019s “it”"), ("é", "it€s â€")],
        ),
    ],
)
def test_who_says_what_is_read_and_comes_back(page: str, record: Any, expected: list[tuple[str, str]]) -> None:
    result = loaded(page, record)
    turns = result.of(Turn)
    names = [(turn.speaker_id or "").rpartition("/")[2] if "speaker" in page else turn.role for turn in turns]
    if page == BESIDE:
        names = [turn.role for turn in turns]
    assert list(zip(names, (turn.text for turn in turns), strict=True)) == expected
    assert not result.rejected


@pytest.mark.parametrize(
    ("page", "records", "rule", "detail"),
    [
        (EVENTS, [{"events": [event("a", "Hi", note="Which part of town?")]}], "GF-27", "note ('Which part of town?')"),
        (EVENTS, [{"events": [event("a", "Hi", more=[{"said": "Which part of town?"}])]}], "GF-27", "more[*].said ("),
        (
            CELLS,
            [{"cell": '[{"who": "a", "t": "Hi", "more": "Which part of town?"}]'}],
            "GF-27",
            "more ('Which part of town?')",
        ),
        (EVENTS, [{"events": [event("a", "bÃ¥t")]}], "GF-29", "1 of 1 turns"),
        (EVENTS, [{"events": [event("a", "itâ€™s")]}], "GF-29", "1 of 1 turns"),
        (
            'format = "transcript"\n[markers]\n"A: " = "a"\n',
            [{"text": "A: I see.\nSupervisor: Mine.\nA: So."}],
            "GF-28",
            "1 lines within turns begin like a mark that is none: Supervisor 1",
        ),
        (
            NODES,
            [{"log": {"r": {"m": None}, "x": {"m": {"parts": ["Hi"]}, "up": "r"}, "y": {"m": {"code": 1}, "up": "x"}}}],
            "GF-22",
            "1 messages have no text at m.parts and are no turns",
        ),
    ],
)
def test_what_is_left_of_turns_is_said(page: str, records: list[Any], rule: str, detail: str) -> None:
    found = {finding.rule: finding.detail for finding in loaded(page, *records).findings}
    assert detail in found[rule]


def test_files_of_a_folder_are_one_dialogue_and_a_turn_that_names_itself_answers_nothing() -> None:
    page = 'format = "turns"\n[dialogue]\nfolder = true\n'
    page += '[turn]\nid = "ts"\ntext = "text"\nspeaker = "u"\nreply_to = "th"\n'
    days = (
        [{"ts": "1", "text": "Key?", "u": "a", "th": "1"}, {"ts": "2", "text": "I do.", "u": "b", "th": "1"}],
        [{"ts": "3", "text": "Thanks!", "u": "a", "th": "1"}, {"ts": "4", "text": "Tea?", "u": "a", "th": "4"}],
    )
    files = {f"pier/{number}.json": json_text(day) for number, day in enumerate(days)}
    result = read_back(read_declaration("quay", HEAD + page, "quay/corpus.toml"), files)
    turns = [(turn.dialogue_id, turn.turn_index, turn.reply_to) for turn in result.of(Turn)]
    assert turns == [("quay:pier", 0, None), ("quay:pier", 1, 0), ("quay:pier", 2, 0), ("quay:pier", 3, None)]
    assert result.places == []


@pytest.mark.parametrize("repair", ["latin1-utf8", "windows1252-utf8"])
@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("a.csv", 'format = "turns"\n[dialogue]\nid = "d"\n[turn]\ntext = "text"\nspeaker = "who"\n'),
        ("a.txt", 'format = "turns"\n[lines]\npattern = "(?<d>[^,]),(?<who>[^,]+),(?<text>.+)"\n' + TURN),
        (
            "a.txt",
            'format = "transcript"\n[dialogue]\nrecord = "$"\ntext = "$"\n'
            + '[lines]\npattern = ".,(?<who>[^,]+),(?<text>.+)"\n'
            + TURN,
        ),
    ],
)
def test_lines_are_mended_and_come_back(name: str, page: str, repair: str) -> None:
    encoding = repair.partition("-")[0].replace("windows1252", "cp1252")
    lines = [f"1,Zoë,Så er det {n} båter" for n in range(3)]
    broken = "\n".join(("d,who,text", *lines)).encode().decode(encoding)
    raw = f"{broken}\n1,Ole,Whole: båt\n".encode()
    declaration = read_declaration(
        "quay", f'{HEAD}{page}[[files]]\npath = "**"\nrepair = "{repair}"\n', "x/corpus.toml"
    )
    turns = read_back(declaration, {name: raw}).of(Turn)
    assert [turn.text for turn in turns][-4:] == [*(line.rpartition(",")[2] for line in lines), "Whole: båt"]
    assert {(turn.speaker_id or "").rpartition(":")[2].rpartition("/")[2] for turn in turns[-4:]} == {"Zoë", "Ole"}


@pytest.mark.parametrize(("word", "hour"), [("오전", 3), ("오후", 15), ("p.\u00a0m.", 15)])
def test_the_halves_of_a_day_have_words(word: str, hour: int) -> None:
    page = (
        f'{EVENTS}said_at = "at"\n[times]\nsaid_at = "%d.%m.%Y %p %I:%M"\nam = "오전"\npm = ["오후", "p.\\u00a0m."]\n'
    )
    (turn,) = loaded(page, {"events": [event("a", "Hi", at=f"02.03.2026 {word} 03:05")]}).of(Turn)
    assert turn.said_at is not None
    assert turn.said_at.hour == hour


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        (LINES % ("", "") + '[markers]\n"A: " = "a"\n', "told apart twice"),
        ('format = "transcript"\n[markers]\n"A: " = "a"\n[turn]\ntext = "said"\n', "without"),
        (EVENTS.replace('"who"', '"$.who"'), "a list next to the turns"),
        (PAIRS.replace('"user"', '"assistant"'), "the same role"),
        (EVENTS + '[times]\nam = "오전"\n', "no form has %p"),
        ('format = "turns"\n[dialogue]\nid = "d"\nfolder = true\n[turn]\ntext = "t"\n', "told apart twice"),
    ],
)
def test_what_can_not_be_meant_is_refused(page: str, problem: str) -> None:
    with pytest.raises(RegistryError, match=problem):
        loaded(page, {})
