"""The tasks of a declaration as SQL files, written from templates: what a corpus's ``queries/`` would have."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Template

from talkhouse.ingest.declared.declaration.model import Declaration, Task
from talkhouse.queries.files import Files, QueryFile, own_files
from talkhouse.schema.sql import literal
from talkhouse.warehouse.declared_tasks.dashboard import dashboard_text
from talkhouse.warehouse.declared_tasks.sentences import one_line, sentence

_TEMPLATES = Path(__file__).parent / "templates"

_SUBFOLDERS = {"view": "", "examples": "examples/", "scores": "scores/"}
"""What each task has a file of, and where that lies."""

_LIKE = {("dialogue_label", "scores"): "turn_label"}
"""Where the template of another kind of task serves: what is labelled makes no difference to a score."""

_REMARK = "no metric is official: the task comes from corpus.toml"


def task_files(declaration: Declaration) -> Files:
    """Return the view, the examples and the scores of each task, and the corpus's dashboard.

    What the declaration says stands in them as SQL literals, as text after ``--``, and as TOML strings; corpora, tasks
    and schemes have names, which reading it has checked.
    """
    corpus_id = declaration.corpus_id
    texts = dict(_texts(declaration))
    texts[f"bi/dashboards/{_dashboard_name(corpus_id)}.toml"] = dashboard_text(declaration)
    return tuple(QueryFile(corpus_id, name, text, Path(declaration.place, name)) for name, text in texts.items())


def _texts(declaration: Declaration) -> Iterator[tuple[str, str]]:
    for task in declaration.tasks:
        values = _values(declaration, task)
        for part, subfolder in _SUBFOLDERS.items():
            kind = _LIKE.get((task.kind, part), task.kind)
            yield f"{subfolder}{task.name}.sql", _template(f"{kind}/{part}").substitute(values)


def _values(declaration: Declaration, task: Task) -> dict[str, str]:
    """Return what stands for each placeholder: SQL, but for the lines of the head."""
    corpus_id = declaration.corpus_id
    values = {
        "corpus": literal(corpus_id),
        "task": literal(task.name),
        "dialogues": literal(f"{corpus_id}:"),
        "records": literal(f"{corpus_id}/"),
        "sentence": sentence(declaration, task),
        "remark": _REMARK,
        "is_wanted": "turns.turn_index > 0" if task.role is None else f"turns.role = {literal(task.role)}",
    }
    if task.scheme is not None:
        scheme = declaration.scheme(task.scheme)
        values["scheme"] = literal(scheme)
        values["scheme_name"] = one_line(scheme)
        values["known_labels"] = f"\n-- scheme: {one_line(scheme)}" if _is_closed(declaration, task.scheme) else ""
        values["given"] = _template("given").substitute(values).rstrip("\n")
    return values | {"talks": _template("talks").substitute(values).rstrip("\n")}


def _is_closed(declaration: Declaration, scheme: str) -> bool:
    """Tell whether a scheme has no other labels than those that are declared."""
    return any(given.scheme == scheme and given.labels is not None for given in declaration.annotations)


def _dashboard_name(corpus_id: str) -> str:
    """Return the name of a corpus's dashboard, which is none of those of all corpora."""
    taken = {file.stem for file in own_files() if file.kind.endswith("dashboards")}
    return f"{corpus_id}_charts" if corpus_id in taken else corpus_id


@cache
def _template(name: str) -> Template:
    return Template((_TEMPLATES / f"{name}.sql").read_text(encoding="utf-8"))
