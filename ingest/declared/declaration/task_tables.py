"""``[[tasks]]``: what examples are made of a corpus."""

from collections.abc import Iterable
from typing import get_args, get_type_hints

from talkhouse.ingest.contract.declaration import STANDARD_SPLITS
from talkhouse.ingest.declared.declaration.label_tables import name_of
from talkhouse.ingest.declared.declaration.model import Annotations, Format, Task
from talkhouse.ingest.declared.declaration.table import Table, one_of

_KINDS = get_args(get_type_hints(Task)["kind"])
_OF_SCHEMES = ("turn_label", "dialogue_label", "spans")
_TARGETS = {"turn_label": ("turn", "response"), "dialogue_label": ("dialogue", "record"), "spans": ("turn", "response")}


def tasks_of(
    whole: Table, format_: Format, annotations: Iterable[Annotations], splits: Iterable[str]
) -> tuple[Task, ...]:
    """Return the tasks, none of whose views would have the name of another's."""
    schemes = {each.scheme: each for each in annotations}
    tasks: dict[str, Task] = {}
    suffixes = {*STANDARD_SPLITS, *splits}
    for table in whole.tables("tasks"):
        name = name_of(table, "name", tasks)
        table.check_keys(("name", "kind", "scheme", "role", "description"))
        if "kind" not in table:
            table.fail("name", f"the task {name!r} has no kind", expected=f"kind = one of: {', '.join(_KINDS)}")
        kind = table.choice("kind", _KINDS)
        _check_kind(table, kind, format_, schemes)
        for other in tasks:
            if (view := _shared_view(min(name, other), max(name, other), suffixes)) is not None:
                table.fail("name", f"the tasks {other!r} and {name!r} would both have a view {view!r}")
        tasks[name] = Task(
            name=name,
            kind=kind,
            line=table.line("name"),
            scheme=table.word("scheme"),
            role=table.word("role"),
            description=table.text("description"),
        )
    return tuple(tasks.values())


def _shared_view(name: str, longer: str, splits: set[str]) -> str | None:
    """Return the name that a view of both tasks would have: a task's own, or that of one of its splits."""
    if not longer.startswith(f"{name}_"):
        return None
    rest = longer.removeprefix(f"{name}_")
    if rest in splits:
        return longer
    split = next((split for split in splits if f"{rest}_{split}" in splits), None)
    return None if split is None else f"{longer}_{split}"


def _check_kind(table: Table, kind: str, format_: Format, schemes: dict[str, Annotations]) -> None:
    for key, fitting in (("scheme", _OF_SCHEMES), ("role", ("next_turn",))):
        if key in table and kind not in fitting:
            table.fail(key, f"kind = {kind!r} takes no {key!r}", next_step=f"remove it; it is for {', '.join(fitting)}")
    if kind == "preference" and format_ != "preference":
        table.fail("kind", f"kind = 'preference' needs answers to compare, which format = {format_!r} has not")
    if kind in _OF_SCHEMES:
        _check_scheme(table, kind, schemes)


def _check_scheme(table: Table, kind: str, schemes: dict[str, Annotations]) -> None:
    names = ", ".join(schemes) or "none is declared"
    if "scheme" not in table:
        table.fail("kind", f"kind = {kind!r} needs a scheme", expected=f"scheme = one of [[annotations]]: {names}")
    name = table.text("scheme")
    if name not in schemes:
        table.fail(
            "scheme",
            f"no [[annotations]] has the scheme {name!r:.80}",
            expected=one_of(name, schemes) if schemes else names,
        )
    scheme = schemes[name]
    if scheme.on not in _TARGETS[kind]:
        table.fail("kind", f"kind = {kind!r} does not fit the scheme {name!r}, which is on = {scheme.on!r}")
    if kind == "spans" and scheme.start is None:
        table.fail("kind", f"kind = 'spans' does not fit the scheme {name!r}, which has no start and end")
    if scheme.label is None and not scheme.columns:
        table.fail("scheme", f"the scheme {name!r} has numbers, no labels")
