-- EmpatheticDialogues with a persona and a topic above the first message of each episode: the acts that ParlAI had cached.
-- grain: variant, split, example_index
-- task_category: text-generation
--   variant: both_sides (what the teacher takes in train) or experiencer_only (in valid and test).
--   entry_index: 0-based number of the entry within its episode.
--   text: The message before the answer; in the first entry with persona and topic above it.
--   labels: The right answer.
--   situation: What the experiencer describes.
--   emotion: The emotion of the situation.
--   prepend_ctx: As cached; null in the published files.
--   prepend_cand: As cached; null in the published files.
--   deepmoji_ctx: As cached; null in the published files.
--   deepmoji_cand: As cached; null in the published files.
--   episode_done: Whether this is the episode's last entry; the teacher finds that out itself and drops the cached value.
--   label_candidates: The cached candidates; null in train, where the teacher drops them.
with
labels as (
    select
        candidates.record_id,
        candidates.turn_index,
        list(texts.text order by candidates.position) as label_candidates,
    from main.candidates
    inner join main.texts on texts.text_id = candidates.text_id
    where candidates.candidate_set = 'ed_label'
        and starts_with(candidates.record_id, 'blended_skill_talk/ed_persona_topicifier/')
    group by candidates.record_id, candidates.turn_index
)

select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    examples.release as variant,
    outside_entries.entry_index,
    outside_entries.text,
    outside_entries.labels,
    outside_entries.situation,
    outside_entries.emotion,
    outside_entries.prepend_ctx,
    outside_entries.prepend_cand,
    outside_entries.deepmoji_ctx,
    outside_entries.deepmoji_cand,
    outside_entries.entry_index + 1 = outside_entries.entry_count as episode_done,
    case
        when examples.split <> 'train' and outside_entries.has_candidates then coalesce(labels.label_candidates, [])
    end as label_candidates,
    examples.record_id,
    true as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join blended_skill_talk.outside_entries
    on outside_entries.record_id = examples.record_id
    and outside_entries.entry_index = examples.turn_index
    and outside_entries.subset = 'ed_persona_topicifier'
left join labels on labels.record_id = examples.record_id and labels.turn_index = examples.turn_index
where examples.corpus_id = 'blended_skill_talk' and examples.task = 'ed_persona_topicifier'
