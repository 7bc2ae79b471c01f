"""Writes the ``corpus.toml`` of a folder that has none, and beside it the schema by which editors check it."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path, PurePosixPath

from talkhouse.guess.evidence import Guess, GuessedLabels, ids_text, paths_of, quoted_path
from talkhouse.guess.guessed_folder import Look, looked_into
from talkhouse.guess.known_pages import look_by_page
from talkhouse.guess.sample import Sample
from talkhouse.ingest.contract.definition import id_problem
from talkhouse.ingest.declared.declaration.keys import FORMS, schema_text
from talkhouse.ingest.declared.declaration.model import JsonPath, matches
from talkhouse.ingest.declared.declaration.table import path_text
from talkhouse.ingest.declared.declaration.toml_text import toml_key, toml_string
from talkhouse.ingest.files.skipped import DECLARATION, SCHEMA
from talkhouse.ingest.registry import all_corpora
from talkhouse.schema.errors import SourceError, UsageError, error_text
from talkhouse.system.atomic_output import clear_private_folder, private_folder


def new_declaration(folder: Path, takes_page: Callable[[str], bool] = lambda _: False) -> Look:
    """Look into a folder, whose name is the corpus's id, write its declaration, and read the samples by it.

    Where the files look like those of a corpus whose page is known, ``takes_page`` is asked by its title whether that
    is written in place of a guess.

    Raises UsageError where it is no folder, has a declaration, or has a name that can be no id; SourceError where it
    is not there, empty, or can't be read. Nothing is ever overwritten.
    """
    corpus_id = folder.resolve().name
    target = folder / DECLARATION
    if folder.is_file():
        raise UsageError(
            "this is a file; a corpus is a folder, named by its id",
            where=folder,
            next_step=f"talkhouse inspect {folder}, or put it into a folder of its own",
        )
    if not folder.exists():
        raise SourceError("there is no such folder", where=folder, next_step="check the path, as seen from this folder")
    clear_private_folder(target)  # it would be looked at as one of the files
    if target.exists() or target.is_symlink():
        raise UsageError("it is there already; nothing is overwritten", where=target, next_step="edit it, or remove it")
    _check_id(corpus_id, folder)
    with looked_into(folder) as seen:
        known = look_by_page(corpus_id, seen)
        if known is not None:
            look, text = known
            if takes_page(look.known or ""):
                _write(f"#:schema ./{SCHEMA}\n{text}", folder)
                return look
            seen.resembles, seen.trial = look.known, None
        text = declaration_text(corpus_id, seen)
        if seen.guess is not None:
            from talkhouse.guess.trial import read_samples  # with all that reads

            samples = {taken.path: (seen.sources[taken.path], taken) for taken in seen.read_by_it}
            seen.trial = read_samples(corpus_id, text, samples)
            text += "".join(f"{line}\n" for line in _tasks(seen.guess, seen.trial.roles))
    _write(text, folder)
    return seen


def _write(text: str, folder: Path) -> None:
    target = folder / DECLARATION
    try:
        with private_folder(target) as private:
            whole = private / DECLARATION
            whole.write_text(text, encoding="utf-8", newline="\n")
            schema = private / SCHEMA
            schema.write_text(schema_text(), encoding="utf-8", newline="\n")
            _publish(whole, target)
            with suppress(FileExistsError):  # the second, so that a killed process leaves no schema alone
                _publish(schema, folder / SCHEMA)
    except FileExistsError as error:
        raise UsageError("it is there already; nothing is overwritten", where=target) from error
    except OSError as error:
        another = "copy the files to a folder of that name, in which you may write"
        raise UsageError("it can't be written", where=target, **error_text(error, folder, another=another)) from error


def _publish(whole: Path, target: Path) -> None:
    """Link a whole file to its final name; a rename would replace what came meanwhile."""
    try:
        os.link(whole, target)
    except FileExistsError:
        raise
    except OSError:  # the disk has no hard links
        whole.rename(target)


def _check_id(corpus_id: str, folder: Path) -> None:
    """Raise UsageError where the folder's name is no id, or that of a corpus that has a reader of its own."""
    problem = id_problem(corpus_id)
    if problem:
        raise UsageError(
            f"the folder's name is the corpus's id, and {corpus_id!r} can be none",
            where=folder,
            expected=problem,
            next_step="rename the folder",
        )
    registry = all_corpora()
    if corpus_id in registry:
        raise UsageError(
            f"there is a corpus '{corpus_id}' already, which has a reader of its own",
            where=folder,
            found=" and ".join(origin.place for origin in registry.origins[corpus_id]),
            next_step="rename the folder, if this is another corpus",
        )


_MOST_LISTED = 20
"""Files that are declared one by one; more by patterns."""
_MOST_NAMED = 20


def declaration_text(corpus_id: str, look: Look) -> str:
    """Return the text of a ``corpus.toml``, with what speaks for each guess as a comment."""
    title = corpus_id.replace("_", " ").capitalize()
    lines = [
        f"#:schema ./{SCHEMA}",
        f"title = {toml_string(title)}",
        '# licence = "CC-BY-4.0"  # to do: without it "not stated"',
        '# citation = ""  # to do',
        '# languages = ["en"]  # to do',
    ]
    if look.guess is None:
        here = _comment(", ".join(list(look.left)[:_MOST_NAMED]))
        skeleton = Path(__file__).with_name("skeleton.toml").read_text(encoding="utf-8")
        return "\n".join([*lines, skeleton, f"# files here: {here}"]) + "\n"
    lines += [f'format = "{look.guess.format}"  # {_comment(look.guess.reason)}', *_files(look)]
    lines += [*_tables(look.guess, look), *_proposals(look)]
    return "\n".join(lines) + "\n"


def _files(look: Look) -> Iterator[str]:
    for path, split in _patterns(look.files, [*look.left, *(taken.path for taken in look.labels)]):
        yield from ("", "[[files]]", f"path = {toml_string(path)}")
        if split:
            yield f"split = {toml_string(split)}"
        if look.broken and ".parquet" not in path.lower():
            yield 'repair = "{}"  # {}'.format(*look.broken)


def _patterns(files: Sequence[tuple[str, str | None]], others: Iterable[str]) -> list[tuple[str, str | None]]:
    """Return the ``path`` and split of each ``[[files]]``: the files themselves, or patterns where they are many.

    A pattern fits all files of its split and ending and no other, ``others`` included; else they are named.
    """
    named = [(_literal(path), split) for path, split in files]
    if len(files) <= _MOST_LISTED:
        return named
    groups: dict[tuple[str | None, str], list[str]] = {}
    for path, split in files:
        groups.setdefault((split, "".join(PurePosixPath(path).suffixes[-2:])), []).append(path)
    everything = {*others, *(path for path, _ in files)}
    patterns = []
    for (split, ending), paths in groups.items():
        fitting = [pattern for pattern in _candidates(paths, ending) if _fits(pattern, set(paths), everything)]
        if not fitting:
            return named
        patterns.append((fitting[0], split))
    return patterns


def _candidates(paths: Sequence[str], ending: str) -> Iterator[str]:
    if len(paths) == 1:
        yield _literal(paths[0])
    least, most = min(paths), max(paths)
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(least, most, strict=False))
    begin = "".join(letter for letter, _ in alike)
    folder, _, name = begin.rpartition("/")
    above = f"{folder}/" if folder else ""
    yield _literal(f"{above}{name.rstrip('0123456789')}") + f"*{_literal(ending)}"
    yield _literal(above) + f"*{_literal(ending)}"
    yield _literal(above) + f"**/*{_literal(ending)}"
    last = {path.rpartition("/")[2] for path in paths}
    yield from (_literal(above) + f"**/{_literal(name)}" for name in last if len(last) == 1)


def _fits(pattern: str, paths: set[str], everything: set[str]) -> bool:
    return {path for path in everything if matches(pattern, path)} == paths


def _literal(path: str) -> str:
    """Write a path as a pattern, which has no backslash."""
    return path.replace("\\", "*")


def _tables(guess: Guess, look: Look) -> Iterator[str]:
    record = guess.dialogue.record
    record_text = path_text(record) if isinstance(record, tuple) else {"file": "$", "member": "*"}.get(record)
    settings: dict[str, dict[str, str]] = {
        "dialogue": {} if record_text is None else {"record": record_text},
        "turn": {},
        "pair": {},
        "preference": {},
        "speaker": {"scope": guess.speaker.scope} if guess.turn.speaker else _beside_scope(guess),
    }
    for table, extra in settings.items():
        paths = {
            name: path_text(path[1:] if path[:1] == ("",) else path)  # the record itself
            for name, path in paths_of(getattr(guess, table)).items()
        }
        if FORMS[guess.format].is_rows or (table == "turn" and guess.lines):
            paths = {name: str(path[0]) for name, path in paths_of(getattr(guess, table)).items() if path}
        if guess.dialogue.turns and guess.dialogue.turns[-1] is None and table == "dialogue":
            paths["turns"] += "[*]"  # the last one alone may be left out
        if table == "dialogue" and guess.dialogue.id is None and ("dialogue", "id") in FORMS[guess.format].may_be_none:
            paths["id"] = ""
        texts = {name: toml_string(text) for name, text in {**extra, **paths}.items()}
        if table == "dialogue" and guess.separators:
            some = [toml_string(separator) for separator in guess.separators]
            texts["separator"] = some[0] if len(some) == 1 else f"[{', '.join(some)}]"
        texts |= guess.also.get(table, {})
        for name, more in getattr(getattr(guess, table), "fallbacks", {}).items():
            first = getattr(getattr(guess, table), name)
            texts[name] = f"[{', '.join(_written(path, guess) for path in (first, *more))}]"
        if table == "turn" and guess.turn.is_reversed:
            texts["order"] = toml_string("reversed")
        if table == "dialogue" and len(guess.together) > 1:
            texts["id"] = ids_text(guess.together)
        if table == "dialogue" and guess.ids != "corpus":
            texts = {"id": texts["id"], "ids": toml_string(guess.ids), **texts}
        yield from _table(table, texts, guess.remarks, guess.notes.get(table, ()))
    form = guess.dialect
    dialect = {"delimiter": form.delimiter, "quoteChar": form.quote_char, "escapeChar": form.escape_char}
    usual = {"delimiter": None, "quoteChar": '"', "escapeChar": ""}
    others: dict[str, Mapping[str, str | None]] = {
        "dialect": {name: value for name, value in dialect.items() if value != usual[name]},
        "lines": guess.lines,
        "times": guess.times,
        "markers": guess.markers,
        "roles": guess.roles,
    }
    if look.people is not None:
        speakers = {key: toml_string(text) for key, text in look.people.table.items()}
        yield from _table("speakers", speakers, look.people.remarks)
    yield from _table("winners", guess.also.get("winners", {}), {})
    for name, values in others.items():
        texts = {key: toml_string(value or "") for key, value in values.items()} | dict(guess.also.get(name, {}))
        if name == "lines":  # patterns, which no text of a file is in
            texts = {key: f"'{value}'" for key, value in values.items()}
        yield from _table(name, texts, guess.remarks, guess.notes.get(name, ()))


def _beside_scope(guess: Guess) -> dict[str, str]:
    return {"scope": "dialogue"} if "speaker" in guess.also.get("turn", {}) else {}


def _written(path: JsonPath, guess: Guess) -> str:
    return quoted_path(path, is_column=FORMS[guess.format].is_rows)


def _table(
    name: str, values: Mapping[str, str], remarks: Mapping[str, str], notes: Sequence[str] = ()
) -> Iterator[str]:
    no_id = remarks.get("dialogue.id") if name == "dialogue" and "id" not in values else None
    if not values and no_id is None and not notes:
        return
    yield from ("", f"[{name}]")
    if no_id is not None:
        yield f"# {_comment(no_id)}"
    for key, value in values.items():
        remark = remarks.get(f"{name}.{key}")
        yield f"{toml_key(key)} = {value}" + (f"  # {_comment(remark)}" if remark else "")
    yield from (f"# {_comment(note)}" for note in notes)


def _proposals(look: Look) -> Iterator[str]:
    if look.guess and look.guess.extra:
        names = ", ".join(look.guess.extra[:_MOST_NAMED]) + ", ..." * (len(look.guess.extra) > _MOST_NAMED)
        yield from ("", f"# kept in extra: {_comment(names)}")
    if look.guess and look.guess.left:
        names = ", ".join(look.guess.left[:_MOST_NAMED]) + ", ..." * (len(look.guess.left) > _MOST_NAMED)
        yield from ("", f"# kept in extra of turns: {_comment(names)}")
    for labels in look.guess.labels if look.guess else ():
        yield from ("", *_labels(labels))
    for taken in look.labels:
        yield from ("", *_label_file(taken))
    for path in list(look.left)[:_MOST_NAMED]:
        yield from ("", "# [[files]]", f"# path = {toml_string(_literal(path))}")
        yield f"# skip = {toml_string(look.left[path])}"


def _labels(labels: GuessedLabels) -> Iterator[str]:
    names = ", ".join(map(toml_string, labels.columns))
    words = ", ".join(f"{toml_key(word)} = {toml_string(labels.meanings.get(word, ''))}" for word in labels.words)
    lines = [
        f"scheme = {toml_string(labels.scheme)}",
        f"on = {toml_string(labels.on)}",
        f"columns = [{names}]" if len(labels.columns) > 1 else f"label = {names}",
    ]
    if labels.meanings:
        yield "[[annotations]]  # to decide: taken for KTO's true or false with an answer"
        yield from (lines[0], 'description = "Whether the answer is desirable."', *lines[1:], f"labels = {{ {words} }}")
        return
    yield "# [[annotations]]  # to do, if these are labels"
    yield from (f"# {line}" for line in (lines[0], 'description = ""  # to do', *lines[1:]))
    yield f"# labels = {{ {words} }}  # to do: what each means" if words else '# labels = "open"'


def _tasks(guess: Guess, roles: Collection[str]) -> Iterator[str]:
    """Yield the tasks that the files have whatever they mean: answers compared, the next turn of an assistant."""
    if guess.format == "preference":
        yield from ("", "[[tasks]]", 'name = "preferences"', 'kind = "preference"')
    elif "assistant" in roles:
        yield from ("", "[[tasks]]", 'name = "answers"', 'kind = "next_turn"', 'role = "assistant"')
    for labels in guess.labels:
        kind = "turn_label" if labels.on in ("turn", "response") else "dialogue_label"
        mark = "" if labels.meanings else "# "
        yield from ("", f"{mark}[[tasks]]  # {'to decide' if labels.meanings else 'to do'}, with its [[annotations]]")
        values = {"name": toml_string(labels.scheme), "kind": f'"{kind}"', "scheme": toml_string(labels.scheme)}
        yield from (f"{mark}{key} = {value}" for key, value in values.items())


def _label_file(taken: Sample) -> Iterator[str]:
    path = toml_string(_literal(taken.path))
    yield "# [[files]]  # to do, if these are labels of the dialogues"
    yield f"# path = {path}"
    yield '# holds = "annotations"'
    yield "#"
    yield "# [[annotations]]"
    yield '# scheme = "label"'
    yield f"# from = {path}"
    yield f'# label = ""  # to do, like dialogue and turn: one of {_comment(", ".join(taken.columns))}'
    yield '# labels = "open"'


def _comment(text: str) -> str:
    return toml_string(text)[1:-1].replace('\\"', '"')
