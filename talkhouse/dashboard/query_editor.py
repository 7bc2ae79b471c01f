"""The text area of the SQL page: it completes the names of what can be queried, or is a plain one where that fails."""

import streamlit as st
from streamlit.errors import StreamlitAPIException

from talkhouse.dashboard.warehouse import Warehouse

_COMPONENT = "talkhouse.sql_editor"
"""As pyproject.toml declares it, by which Streamlit finds its files."""

_HTML = """
<div class="editor">
<label for="query">Query</label>
<div class="inside">
<textarea class="query" id="query" placeholder="from main.corpora" spellcheck="false" autocapitalize="off" readonly
 autocomplete="off" aria-autocomplete="list" aria-haspopup="listbox" aria-controls="completions"></textarea>
<div class="mirror" aria-hidden="true"></div>
<ul class="list" id="completions" role="listbox" aria-label="Completions" hidden></ul>
</div>
<div class="status" role="status"></div>
</div>
"""

_STYLE = """
<style>
.st-key-query textarea { font-family: "Source Code Pro", monospace; font-size: 0.875rem; tab-size: 4; }
</style>
"""

_RELATIONS = """
select schema_name || '.' || table_name, list([column_name, data_type] order by column_index)
from duckdb_columns()
where database_name = current_database() and not internal
group by all
order by all
"""

_QUERY = "query"
"""Of the address, and of the session: the query as it is now."""

_GIVEN = "query_given"
"""The query that the address had last: another one comes from a link."""

_VERSION = "query_version"
"""Grows with each query that is put into the text area by the page: what is typed is not overwritten otherwise."""

_EDITOR = "sql_editor"


def draw(opened: Warehouse) -> tuple[str, bool]:
    """Draw the text area and what runs its query; return the query, and whether it is to be run."""
    try:
        editor = st.components.v2.component(_COMPONENT, html=_HTML, css="editor.css", js="editor.js")
    except StreamlitAPIException:
        # Without the package's pyproject.toml, as in a copy of the code that is not installed.
        return _draw_plain()
    _take_from_address()
    version = st.session_state.setdefault(_VERSION, 0)
    result = editor(
        key=_EDITOR,
        data={"query": st.session_state[_QUERY], "version": version, "relations": _relations(opened)},
        on_query_change=_on_typed,
        on_run_change=lambda: None,
    )
    is_asked = st.button("Run", type="primary", icon=":material/play_arrow:")
    query: str = st.session_state[_QUERY]
    if query != st.query_params.get(_QUERY, ""):
        st.query_params[_QUERY] = query
    st.session_state[_GIVEN] = query
    return query, is_asked or result.run is not None


def take(query: str) -> None:
    """Put a query in the place of the one that is in the text area; to be called before it is drawn."""
    st.session_state[_QUERY] = query
    st.session_state[_VERSION] = st.session_state.get(_VERSION, 0) + 1


def _draw_plain() -> tuple[str, bool]:
    with st.form("console", border=False):
        st.html(_STYLE)
        query = st.text_area("Query", key=_QUERY, bind="query-params", height=200, placeholder="from main.corpora")
        return query, st.form_submit_button("Run", type="primary", icon=":material/play_arrow:")


def _take_from_address() -> None:
    given = st.query_params.get(_QUERY)
    if given is not None and given != st.session_state.get(_GIVEN):
        st.session_state[_GIVEN] = given
        take(given)
    st.session_state.setdefault(_QUERY, "")


def _on_typed() -> None:
    typed = st.session_state[_EDITOR]["query"]
    st.session_state[_QUERY] = typed["text"]


def _relations(opened: Warehouse) -> list[list[object]]:
    """Return the name of each view and table, and the names and types of its columns."""
    return [[name, columns] for name, columns in opened.rows(_RELATIONS).iter_rows()]


EXAMPLE_QUERIES = {
    "The size of every split of every task": """\
select corpus_id, task, release, split, example_count, dialogue_count
from bi.splits
order by all""",
    "Labels of each task and split": """\
select corpus_id, task, split, label, count(*) as example_count
from bi.example_labels
group by all
order by corpus_id, task, split, example_count desc""",
    "Conversations that speak of rain": """\
select corpus_id, dialogue_id, turn_index, speaker_name, text
from bi.turns
where text ilike '%rain%'
order by dialogue_id, turn_index
limit 100""",
    "Turns on which annotators agree least": """\
select dialogue_id, turn_index, scheme, annotator_count, majority_label, pairwise_agreement
from bi.turn_agreement
where is_default and pairwise_agreement is not null
order by pairwise_agreement, dialogue_id, turn_index
limit 100""",
    "How long the next message is after each label": """\
select scheme, label, count(*) as turn_count, avg(next_word_count) as next_words
from bi.labelled_turns
where is_default and next_kind = 'message'
group by all
order by scheme, turn_count desc""",
    "Personas that two splits share": """\
select corpus_id, release, split, other_split, persona_count, shared_count, shared_share
from bi.shared_personas
order by all""",
    "The longest conversations": """\
select corpus_id, dialogue_id, title, turn_count, speaker_count
from bi.dialogues
order by turn_count desc, dialogue_id
limit 20""",
    "What loading found, by rule": """\
select corpus_id, severity, rule, condition, count(*) as finding_count
from bi.findings
group by all
order by finding_count desc, rule""",
}
"""Title -> query."""
