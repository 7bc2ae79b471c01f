"""Asks, before dialogues of one's own go out, whether the personal data in their texts may."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice

from talkhouse.export.composition import key_of, owner
from talkhouse.export.selection import Selection, select
from talkhouse.personal import TITLES, PersonalData, PersonalKind
from talkhouse.personal.find import candidate_pattern, find
from talkhouse.schema.errors import PersonalDataFound
from talkhouse.schema.sql import literal, quoted
from talkhouse.warehouse.build_facts import own_corpora
from talkhouse.warehouse.opened import Warehouse

_MOST = 20_000
"""Texts that are looked at: so many may have some, and who asks need not know exactly how many do."""


def check_personal_data(warehouse: Warehouse, selections: Iterable[Selection], choice: PersonalData) -> None:
    """Raise PersonalDataFound where rows that are to go out have personal data, of a corpus that a page declares.

    Names are not asked about: what follows a greeting is too often a figure of speech.
    """
    if choice is not PersonalData.ASK:
        return
    own = own_corpora(warehouse.con, warehouse.database)
    counts, corpora = Counter[PersonalKind](), set[str]()
    for selection in selections if own else ():
        counts += _counted(warehouse, selection, own, corpora)
    if counts:
        names = ", ".join(sorted(corpora))
        found = ", ".join(f"{TITLES[kind]}: {count:,}" for kind, count in counts.most_common())
        raise PersonalDataFound(
            f"what is to be written has personal data in the texts of {names}",
            expected="texts without, or your decision to let it out",
            found=found,
            next_step="put marks in its place with --redact, or let it out with --keep-personal-data; "
            "see where it stands with: talkhouse profile",
        )


_HAS_TEXTS = re.compile("VARCHAR|JSON")
"""Types with texts in them, also as lists and members of structs."""

_TEXTS = ("main.turns", "main.parts", "main.texts", "main.personas", "main.dialogues")


def check_texts(warehouse: Warehouse, choice: PersonalData, corpora: Iterable[str] | None = None) -> None:
    """Raise PersonalDataFound as ``check_personal_data`` does, where all texts of some corpora, or of all, go out."""
    selections = [select(warehouse, name) for name in _TEXTS] if choice is PersonalData.ASK else []
    if corpora is not None:
        conditions = " or ".join(f"{{key}} = {literal(corpus_id)}" for corpus_id in corpora) or "false"
        selections = [
            selection.narrowed(conditions.format(key=owner(str(key_of(selection.known))))) for selection in selections
        ]
    check_personal_data(warehouse, selections, choice)


def _counted(warehouse: Warehouse, selection: Selection, own: set[str], corpora: set[str]) -> Counter[PersonalKind]:
    """Count what the texts of a selection have, and add the corpora that have it."""
    texts = [
        column["name"]
        for column in selection.columns
        if _HAS_TEXTS.search(str(column["type"])) and not column["name"].endswith("_id")
    ]
    key = key_of(selection.known)
    if not texts or (selection.schema not in own and key is None):
        return Counter()
    if selection.schema in own:
        corpus, rows = literal(selection.schema), selection.rows(texts)
    else:
        corpus, rows = owner(str(key)), selection.rows(list(dict.fromkeys((str(key), *texts))))
    values = ", ".join(f"{quoted(name)}::varchar" for name in texts)
    query = (
        f"select distinct _corpus_id, _text from (select {corpus} as _corpus_id, unnest([{values}]) as _text "
        f"from ({rows})) where _corpus_id in ({', '.join(map(literal, sorted(own)))}) and regexp_matches(_text, $1)"
    )
    counts = Counter[PersonalKind]()
    cursor = warehouse.con.execute(query, [candidate_pattern(with_names=False)])
    for corpus_id, text in islice(iter(cursor.fetchone, None), _MOST):
        kinds = [item.kind for item in find(text) if item.kind is not PersonalKind.NAME]
        counts.update(kinds)
        if kinds:
            corpora.add(corpus_id)
    return counts
