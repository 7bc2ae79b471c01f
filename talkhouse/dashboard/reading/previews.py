"""What the labels of a conversation come to, in a line of the list: the majority label of how many turns."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from talkhouse.dashboard.reading.belongings import bar_html
from talkhouse.dashboard.reading.schemes import UNDECLARED, Schemes, schemes_of
from talkhouse.dashboard.text import tag, text
from talkhouse.dashboard.warehouse import Warehouse

_MOST = 8
"""Labels of a scheme that a line can show; a scheme of more, such as one of free words, is left out."""

# By the tables, as the views of labels would count those of all conversations. Of the default publication.
_MAJORITIES = """
with page as (
    select unnest($dialogues::varchar[]) as dialogue_id
),
published as (
    select record_id
    from main.records
    semi join page on page.dialogue_id = records.dialogue_id
    left join bi.default_releases as defaults on defaults.dialogue_id = records.dialogue_id
    where records.release is not distinct from defaults.release
),
votes as (
    select dialogue_id, record_id, turn_index, scheme, label, count(*) as vote_count
    from main.annotations
    inner join main.schemes using (scheme)
    semi join published on published.record_id = annotations.record_id
    where schemes.kind = 'single_label' and turn_index is not null and label is not null
        and dialogue_id in (select dialogue_id from page)
    group by dialogue_id, record_id, turn_index, scheme, label
),
majorities as (
    select dialogue_id, turn_index, scheme, min_by(label, (-vote_count, label)) as label
    from votes
    group by dialogue_id, turn_index, scheme
)
select dialogue_id, scheme, label, count(*) as turn_count
from majorities
group by dialogue_id, scheme, label
order by dialogue_id, scheme, label
"""


def previews_of(opened: Warehouse, dialogues: Sequence[str]) -> dict[str, str]:
    """Return for each dialogue that has labels on its turns a line of them, as HTML."""
    given: defaultdict[str, defaultdict[str, list[tuple[str, int]]]] = defaultdict(lambda: defaultdict(list))
    for dialogue_id, scheme, label, count in opened.rows(_MAJORITIES, {"dialogues": list(dialogues)}).iter_rows():
        given[dialogue_id][scheme].append((label, count))
    corpora = {dialogue_id.partition(":")[0] for dialogue_id in given}
    schemes: dict[str, Any] = {}
    for corpus_id in sorted(corpora):
        schemes |= schemes_of(opened, corpus_id)
    return {dialogue_id: _preview(labels, schemes) for dialogue_id, labels in given.items()}


def _preview(given: dict[str, list[tuple[str, int]]], schemes: Schemes) -> str:
    """Return the scheme that labels the most turns, of those whose labels fit into a line."""
    fitting = {scheme: counts for scheme, counts in given.items() if len(counts) <= _MOST}
    if not fitting:
        return ""
    scheme = max(fitting, key=lambda name: (sum(count for _, count in fitting[name]), len(fitting[name]), name))
    name = text("name", f"turns by {scheme.partition('.')[2]}")
    return tag("div", "preview", name + bar_html(fitting[scheme], schemes.get(scheme, UNDECLARED), is_of_turns=True))
