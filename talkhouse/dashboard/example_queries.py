"""Queries to begin with, on the SQL page."""

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
