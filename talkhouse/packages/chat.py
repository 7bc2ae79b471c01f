"""The package of ``--for chat``: a file of JSON Lines for each split, whose lines trainers take for conversations.

A line is a whole dialogue, a turn with what comes before it, or a prompt with two answers: ``ChatForm``.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from talkhouse.export.formats import ChatForm
from talkhouse.export.pseudonyms import Pseudonyms, with_pseudonyms
from talkhouse.export.row_stream import OnRows
from talkhouse.export.selection import Filters, Selection, select
from talkhouse.export.terms import parts_of
from talkhouse.ingest.declared.documents.parts import MEMBERS, write_list, write_member, write_part
from talkhouse.ingest.declared.shapes import KnownShapes
from talkhouse.ingest.decode import literals
from talkhouse.ingest.rows import Part
from talkhouse.packages.content import ExportPackage, PackageLayout, SplitRows, counted, described_file, has_splits
from talkhouse.packages.plan import config_of, corpora_in
from talkhouse.schema.errors import QueryFailed, UsageError
from talkhouse.schema.sql import literal
from talkhouse.schema.sql_files import sql_of
from talkhouse.warehouse.opened import Warehouse

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
"""The roles that chat templates know."""


@dataclass(frozen=True)
class ChatOptions:
    """What the chats are to look like."""

    form: ChatForm | None = None
    """None: a preference where the rows have two answers, a prompt where they name a turn, or else messages."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """Role in the corpus -> one of ``ROLES``."""
    has_personas: bool = False
    """Whether the personas of the speaker who answers come first, as a message of the role ``system``."""


def roles_of(roles: str | Mapping[str, str]) -> dict[str, str]:
    """Read ``customer=user,agent=assistant``, or the mapping itself; UsageError where a role is none of ``ROLES``."""
    if isinstance(roles, str):
        split = [pair.rpartition("=") for pair in roles.split(",")]
        pairs = [(role, chat_role) for role, _, chat_role in split]
    else:
        pairs = [*roles.items()]
    for role, chat_role in pairs:
        if not role or chat_role not in ROLES:
            raise UsageError(
                "--roles names no role of a chat",
                expected=f"ROLE=CHATROLE, the second of: {', '.join(ROLES)}",
                found=f"'{role}={chat_role}'"[:200],
                next_step="write it such as: --roles customer=user,agent=assistant",
            )
    return dict(pairs)


def layout(options: ChatOptions) -> PackageLayout:
    """Return the layout of packages of such chats."""
    return PackageLayout(partial(plan, options), _write)


@dataclass(frozen=True, kw_only=True)
class ChatPackage(ExportPackage):
    """A package of chats."""

    form: ChatForm
    options: ChatOptions
    pseudonym: str | None = None
    """The SQL of the pseudonym of a turn's speaker, who has a name without one."""
    hidden: str = ""
    """The SQL that hides what leads to people in parts."""

    @property
    def selection(self) -> Selection:
        """The rows of which each becomes a chat; of a tree of messages, a chat for each of its last ones."""
        return self.configs[0].selection

    def chats(self, split: SplitRows) -> Iterator[str | None]:
        """Yield each chat of a split as JSON, in published order; None for one that has nothing for a prompt.

        Raises QueryFailed for parts of messages that no build of Talkhouse has written, and duckdb.Error.
        """
        selection = self.selection
        if has_splits(selection):
            is_of = f"= {literal(split.published)}" if split.published is not None else "is null"
            selection = selection.narrowed(f"split {is_of}")
        con = self.warehouse.con
        _keep_parts(con, _wanted(selection), self.hidden)
        cursor = con.execute(self._query(selection))
        while rows := cursor.fetchmany(1_000):
            for system, before, message, *answers in rows:
                yield _chat(self.form, ",".join(filter(None, (system, before))), message, answers)

    def has_parts(self) -> bool:
        """Whether messages of the split that was read last have parts, such as tool calls."""
        ((found,),) = self.warehouse.con.execute("select count(*) > 0 from temp.chat_parts").fetchall()
        return bool(found)

    def _query(self, selection: Selection) -> str:
        is_turn, is_pair = _TURN in selection.known, self.form is ChatForm.PREFERENCE
        columns = ["dialogue_id", *([_TURN] if is_turn else []), *(_PAIR if is_pair else ())]
        texts = {f"{name}_texts": f"examples.{name}" if is_pair else "null" for name in _PAIR}
        messages = {f"{name}_messages": _ANSWERS.format(texts=f"{name}_texts") if is_pair else "null" for name in _PAIR}
        return _QUERY.format(
            chosen=selection.sql(columns),
            has_personas=str(self.options.has_personas).lower(),
            role=_chat_role(self.options.roles),
            pseudonym=self.pseudonym or "null",
            name="turns.pseudonym" if self.pseudonym else "speakers.name",
            answer="chosen.turn_index" if is_turn else "coalesce(paths.turn_index, len(dialogues.messages) - 1)",
            is_path="paths.turn_index = chosen.turn_index" if is_turn else "paths.is_last",
            persona=_OF_ASSISTANTS if self.form is ChatForm.MESSAGES else "personas[answer + 1]",
            roles=_LIST.format("chat_role") if is_pair or self.options.has_personas else _NO_LIST,
            personas=_LIST.format("persona") if self.options.has_personas else _NO_LIST,
            **texts,
            **messages,
        )


_TURN, _PAIR = "turn_index", ("chosen", "rejected")

_QUERY = Path(__file__).with_name("chat.sql").read_text(encoding="utf-8")

_LIST, _NO_LIST = "list({} order by turn_index)", "null::varchar[]"
"""To sort what nobody needs would take a third of the time."""

_OF_ASSISTANTS = (
    "nullif(array_to_string(list_sort(list_distinct(list_filter(personas, "
    "lambda persona, turn: persona is not null and roles[turn] = 'assistant'))), chr(10)), '')"
)

_ANSWERS = (
    "array_to_string(list_transform({texts}, lambda text, turn: concat('{{\"role\":', "
    "to_json(if(turn % 2 = 1, role, other_role)), ',\"content\":', to_json(text), '}}')), ',')"
)
"""The messages of an answer: the role that answers and the one before it take turns."""


def _chat(form: ChatForm, before: str, message: str, answers: Sequence[str]) -> str | None:
    """Return a line of these messages, or None where there is no prompt."""
    if form is ChatForm.MESSAGES:
        return f'{{"messages":[{",".join(filter(None, (before, message)))}]}}'
    if not before:
        return None
    if form is ChatForm.PROMPT:
        return f'{{"prompt":[{before}],"completion":[{message}]}}'
    chosen, rejected = answers
    return f'{{"prompt":[{before}],"chosen":[{chosen}],"rejected":[{rejected}]}}'


def plan(
    options: ChatOptions, warehouse: Warehouse, name: str, filters: Filters, pseudonyms: Pseudonyms | None
) -> ChatPackage:
    """Plan the chats of a corpus, of a view or table that names dialogues, or of a query that does.

    Raises UsageError for other names, rows that are not there, a form that the rows can't have, and roles that no chat
    has and ``options`` do not say.
    """
    selection, notes = _selected(warehouse, name, filters)
    form = options.form or _form_of(selection)
    if form is ChatForm.PREFERENCE and not {_TURN, *_PAIR} <= {*selection.known}:
        raise UsageError(
            f"{selection.full_name} has no chosen and rejected answers",
            expected="a task of the kind preference",
            next_step="see its tasks with: talkhouse views; an own corpus declares them: docs/own-corpora.md",
        )
    turns = select(warehouse, "main.turns").narrowed(_wanted(selection))
    _check_roles(warehouse.con, turns, options.roles)
    pseudonym, hidden = None, ""
    if pseudonyms:
        hidden = _hidden(warehouse, pseudonyms)
        pseudonym = with_pseudonyms(turns, warehouse, pseudonyms).replaced.get("speaker_id", "speaker_id")
        # Of ids, only those of speakers are written. What describes the rows may not repeat a condition of others.
        selection = replace(with_pseudonyms(selection, warehouse, pseudonyms), replaced={})
    config = config_of(warehouse, selection.name, selection)
    if config is None:
        raise UsageError(f"there are no rows of {name} to export", next_step="see what there is: talkhouse status")
    return ChatPackage(
        warehouse,
        name,
        (config,),
        corpora_in(warehouse, [selection]),
        parts_of(warehouse, [selection, turns]),
        pseudonyms.fingerprint if pseudonyms else None,
        notes=tuple(notes),
        form=form,
        options=options,
        pseudonym=pseudonym,
        hidden=hidden,
    )


def _selected(warehouse: Warehouse, name: str, filters: Filters) -> tuple[Selection, list[str]]:
    """Return the rows that become chats, each example once, and a note if that leaves some out."""
    if any(character.isspace() for character in name):
        of_query = f"dialogue_id in (select dialogue_id from ({name}))"
        where = of_query if filters.where is None else f"({of_query}) and ({filters.where})"
        name, filters = "main.dialogues", replace(filters, where=where)
    if is_corpus := name in warehouse.corpus_ids:
        # The lengths of all dialogues are only counted for a condition that may be of them.
        of = select(warehouse, "bi.record_dialogues" if filters.where else "bi.publications", filters)
        of = of.narrowed(f"corpus_id = {literal(name)} and is_first_in_split")
        default = of.narrowed("is_default") if filters.release is None else of
        selection = _published(warehouse, default)
    else:
        of = select(warehouse, name, filters)
        is_once = "is_default" in of.known and filters.release is None
        selection = default = of.narrowed("is_default") if is_once else of
    if "dialogue_id" not in selection.known:
        raise UsageError(
            f"the rows of {selection.full_name} are of no dialogue",
            expected="a corpus, or a view, table or query with a column dialogue_id",
            next_step="see the columns with: talkhouse views NAME",
        )
    if default is of:
        return selection, []
    others = f"select count(*) from ({of.narrowed('not is_default').rows(['dialogue_id'])})"
    ((count,),) = warehouse.con.execute(others).fetchall()
    what = "dialogue" if is_corpus else "example"
    note = f"left out: {counted(count, what)} of other releases than each dialogue's first; choose with --release"
    return selection, [note] if count else []


def _published(warehouse: Warehouse, publications: Selection) -> Selection:
    """Return the records of publications in the order of files and records."""
    of = f"record_id in (select record_id from ({publications.rows(['record_id'])}))"
    records = replace(select(warehouse, "main.records"), filters=publications.filters)
    return replace(records, order=("source_file_id", "record_index", "record_id")).narrowed(of)


def _form_of(selection: Selection) -> ChatForm:
    if {_TURN, *_PAIR} <= {*selection.known}:
        return ChatForm.PREFERENCE
    return ChatForm.PROMPT if _TURN in selection.known else ChatForm.MESSAGES


def _wanted(selection: Selection) -> str:
    """Write the condition of the rows that are of the selected dialogues."""
    return f"dialogue_id in (select dialogue_id from ({selection.rows(['dialogue_id'])}))"


def _check_roles(con: duckdb.DuckDBPyConnection, turns: Selection, roles: Mapping[str, str]) -> None:
    """Raise UsageError for roles that are not said: all, where none is an assistant, since ``system`` may be a bot."""
    found = {role for (role,) in con.execute(f"select distinct role from ({turns.rows(['role'])})").fetchall()}
    known = {"user", *(ROLES if "assistant" in found else ()), *roles}
    if unknown := sorted(found - known)[:20]:
        pairs = zip(unknown, ["user", *["assistant"] * len(unknown)][len(unknown) == 1 :], strict=False)
        raise UsageError(
            "the turns have roles that are none of a chat",
            expected=f"for each role one of: {', '.join(ROLES)}",
            found=", ".join(unknown),
            next_step=f"say what each is, such as: --roles {','.join(map('='.join, pairs))}",
        )


def _chat_role(roles: Mapping[str, str]) -> str:
    cases = " ".join(f"when {literal(role)} then {literal(chat_role)}" for role, chat_role in roles.items())
    return f"case turns.role {cases} else turns.role end" if cases else "turns.role"


_NEW_PARTS = """
create or replace temp table chat_parts (dialogue_id varchar, turn_index integer, content varchar, members varchar)
"""

_SHAPE = "case when (extra -> 'shape') is not null then json_object('shape', extra -> 'shape') end"
"""Of ``extra``, how the file writes a part, without what no column takes of it."""


def _hidden(warehouse: Warehouse, pseudonyms: Pseudonyms) -> str:
    """Write the SQL that puts pseudonyms in place of the ids and addresses of parts."""
    replaced = with_pseudonyms(select(warehouse, "main.parts"), warehouse, pseudonyms).replaced
    columns = {name: replaced[name] for name in ("call_id", "uri") if name in replaced} | {"extra": _SHAPE}
    return f" replace ({', '.join(f'{value} as {name}' for name, value in columns.items())})"


def _keep_parts(con: duckdb.DuckDBPyConnection, wanted: str, hidden: str) -> None:
    """Write the members of messages with parts as their file has them, for the query to read."""
    con.execute(_NEW_PARTS)
    query = sql_of(__file__, "chat_parts", wanted=wanted, hidden=hidden)
    # Another cursor reads while this one writes, but does not see the table of pseudonyms.
    rows = con.execute(query).fetchall() if hidden else iter(con.cursor().execute(query).fetchone, None)
    for turn, of_turn in groupby(rows, key=lambda row: row[:2]):
        *_, text, envelope = (lines := list(of_turn))[0]
        try:
            members = _members([Part(*line[:-2]) for line in lines], text, KnownShapes(literals(envelope)))
        except (KeyError, TypeError, ValueError, msgspec.MsgspecError) as error:
            raise QueryFailed(
                f"the parts of the turn {turn[1]} of {turn[0]!r:.100} can't be written",
                expected="parts as a build of Talkhouse writes them",
                found=f"{type(error).__name__}: {error}"[:200],
                next_step="build the warehouse again from its files",
            ) from error
        con.execute("insert into temp.chat_parts values (?, ?, ?, ?)", [*turn, *members])


def _members(parts: list[Part], text: str, shapes: KnownShapes) -> tuple[str | None, str]:
    """Return the JSON of the content, or None where that is a plain text, and of all other members."""
    content, members = None, ""
    for name, of_field in groupby(parts, key=lambda part: part.field):
        pieces = list(of_field)
        if name in MEMBERS:
            members += f',"{name}":{_checked(write_member(name, pieces, text, shapes))}'
        else:
            content = _checked(write_list([write_part(part, text, shapes) for part in pieces]))
    return content, members


def _checked(raw: bytes) -> str:
    """Return JSON on one line; msgspec's error for what is none: the shapes may be of somebody else's warehouse."""
    msgspec.json.decode(raw, type=msgspec.Raw)
    return msgspec.json.format(raw, indent=-1).decode()


def _write(package: ExportPackage, folder: Path, on_rows: OnRows) -> list[dict[str, Any]]:
    assert isinstance(package, ChatPackage)  # noqa: S101 - it is what ``plan`` returns
    files, known = list[dict[str, Any]](), dict[str, Any]()
    for split in package.configs[0].splits:
        path, counts = folder / f"{split.name}.jsonl", Counter[bool]()
        with path.open("w", encoding="utf-8", newline="\n") as stream:
            for chat in package.chats(split):
                counts[chat is not None] += 1
                if chat is not None:
                    stream.write(f"{chat}\n")
                on_rows(1)
        form = {"form": package.form, "roles": dict(package.options.roles), "without_prompt": counts[False]}
        files.append(described_file(path, counts[True]) | form)
        known[split.name] = _llama_factory(path.name, has_parts=package.has_parts())
    if package.form is not ChatForm.MESSAGES:
        return files
    info = folder / "dataset_info.json"
    info.write_text(json.dumps(known, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return [*files, described_file(info, None)]


def _llama_factory(name: str, *, has_parts: bool) -> dict[str, Any]:
    """Return the entry of a file in dataset_info.json.

    Its reader ``openai`` knows tool calls, and adds to each system text. Prompts are not known there, nor answers of
    several messages.
    """
    tags = {f"{role}_tag": role for role in ("user", "assistant", "system")}
    return {
        "file_name": name,
        "formatting": "openai" if has_parts else "sharegpt",
        "columns": {"messages": "messages"},
        "tags": {"role_tag": "role", "content_tag": "content", **tags, "observation_tag": "tool"},
    }


LAYOUT = layout(ChatOptions())
