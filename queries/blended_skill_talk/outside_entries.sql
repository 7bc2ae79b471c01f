-- Each entry of an episode of another corpus (cached EmpatheticDialogues, ConvAI2, Wizard of Wikipedia), as that corpus's teacher makes it before anything is added.
-- grain: record_id, entry_index
--   entry_index: 0-based number of the entry within its episode.
--   entry_count: Entries of the episode.
--   text: What is said to the speaker who is to answer, with the context that the teacher puts above it.
--   labels: The right answers.
--   situation: The cached situation (EmpatheticDialogues only).
--   emotion: The cached emotion (EmpatheticDialogues only).
--   prepend_ctx: As cached; null in the published files.
--   prepend_cand: As cached; null in the published files.
--   deepmoji_ctx: As cached; null in the published files.
--   deepmoji_cand: As cached; null in the published files.
--   has_candidates: Whether the cached entry has a list of label candidates.
with
episodes as (
    select
        record_id,
        subset,
        release,
        split,
        record_index,
        from_json(
            extra -> 'entries',
            '[{"text": "VARCHAR", "labels": ["VARCHAR"], "situation": "VARCHAR", "emotion": "VARCHAR", '
            '"prepend_ctx": "VARCHAR", "prepend_cand": "VARCHAR", "deepmoji_ctx": "VARCHAR", '
            '"deepmoji_cand": "VARCHAR", "label_candidates": "INTEGER"}]'
        ) as entries,
    from main.records
    where corpus_id = 'blended_skill_talk'
        and subset in ('ed_persona_topicifier', 'convai2', 'wizard_of_wikipedia')
        and extra ->> 'repeats' is null
),

entries as (
    select
        *,
        len(entries) as entry_count,
        unnest(entries) as entry,
        unnest(range(len(entries)))::integer as entry_index,
    from episodes
)

select
    record_id,
    subset,
    release,
    split,
    record_index,
    entry_index,
    entry_count,
    entry.text,
    entry.labels,
    entry.situation,
    entry.emotion,
    entry.prepend_ctx,
    entry.prepend_cand,
    entry.deepmoji_ctx,
    entry.deepmoji_cand,
    entry.label_candidates is not null as has_candidates,
from entries
