"""How the labels of a corpus's schemes are shown: in which order, in which colours, and what they mean."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from talkhouse.charts.colours import label_colours
from talkhouse.dashboard.warehouse import Warehouse

_LABELS = """
select schemes.scheme, schemes.scale, labels.label, labels.meaning
from main.labels
inner join main.schemes using (scheme)
where starts_with(scheme, $corpus || '.')
order by scheme, label_index, label
limit 1000
"""

_OTHER = "#9aa1ad"
"""The colour of a label that is not declared."""


@dataclass(frozen=True)
class Scheme:
    """What is declared of the labels of one scheme."""

    colours: Mapping[str, str]
    """Label -> its colour, in the order of the labels."""
    meanings: Mapping[str, str]
    """Label -> what it means, where that is declared."""

    def colour(self, label: str) -> str:
        """Return the colour of a label."""
        return self.colours.get(label, _OTHER)

    def in_order(self, labels: Iterable[str]) -> list[str]:
        """Return labels as they are declared, then the others by their characters."""
        places = {label: place for place, label in enumerate(self.colours)}
        return sorted(labels, key=lambda label: (places.get(label, len(places)), label))


Schemes = Mapping[str, Scheme]
"""Name of a scheme, with its corpus -> how its labels are shown; of one that is not there, nothing is declared."""

UNDECLARED = Scheme({}, {})


def declared(rows: Sequence[tuple[str, str | None, str, str | None]]) -> Schemes:
    """Return the schemes of rows of (scheme, scale, label, meaning), in their order."""
    found = {}
    for (name, scale), group in groupby(rows, key=itemgetter(0, 1)):
        labels = [(label, meaning) for _, _, label, meaning in group]
        colours = label_colours([label for label, _ in labels], scale)
        found[name] = Scheme(colours, {label: meaning for label, meaning in labels if meaning is not None})
    return found


def schemes_of(opened: Warehouse, corpus_id: str) -> Schemes:
    """Return the schemes of a corpus."""
    return declared(opened.rows(_LABELS, {"corpus": corpus_id}).rows())
