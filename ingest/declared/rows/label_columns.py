"""Which columns of a file of labels hold what."""

from dataclasses import dataclass

from talkhouse.ingest.declared.declaration.model import Annotations, Declaration
from talkhouse.ingest.declared.declaration.patterns import matches
from talkhouse.ingest.declared.rows.columns import ID, Hole, RowColumns

FIELDS = ("turn", "label", "value", "annotator", "start", "end")


@dataclass(frozen=True)
class LabelFileColumns:
    """The columns of one file of labels."""

    columns: RowColumns
    specs: tuple[Annotations, ...]
    """The schemes that have labels there."""


def label_file_columns(declaration: Declaration, path: str, pattern: str) -> LabelFileColumns:
    """Return what the columns of a file of labels are, by the ``[[annotations]]`` that take labels from it."""
    specs = tuple(
        spec
        for spec in declaration.annotations
        if spec.from_file is not None and (spec.from_file == pattern or matches(spec.from_file, path))
    )
    holes: dict[Hole, tuple[str, ...]] = {}
    for spec in specs:
        if spec.dialogue:
            holes.setdefault(ID, (str(spec.dialogue[0]),))
    for spec in specs:
        for field in FIELDS:
            column = getattr(spec, field)
            if column:
                holes[hole_of(spec, field)] = (str(column[0]),)
    return LabelFileColumns(RowColumns(holes), specs)


def hole_of(spec: Annotations, field: str) -> Hole:
    """Return the hole of a field of a scheme's labels."""
    return f"{field}:{spec.scheme}"
