-- Each answer of a guided worker with what the reference teacher makes of it, before the round trip through ParlAI's text files.
-- grain: record_id, turn_index
--   entry_index: 0-based number of the pair of turns within the episode.
--   text: The free worker's message; in the first entry, above it: the guided worker's first two persona sentences, the topic (Wizard of Wikipedia only) and the two seed utterances.
--   label: The guided worker's answer.
--   context_dataset: Where the context comes from: convai2, empathetic_dialogues or wizard_of_wikipedia.
--   free_message: The free worker's message.
--   convai2: What the model of ConvAI2 suggested.
--   empathetic_dialogues: What the model of EmpatheticDialogues suggested.
--   wizard_of_wikipedia: What the model of Wizard of Wikipedia suggested.
--   guided_chosen_suggestion: The model whose suggestion was taken; empty, or a space, where none was.
--   episode_done: Whether this is the episode's last entry.
--   label_candidates: The candidate answers in published order; null where the episode has none.
with
talks as (
    select
        dialogue_id,
        count(*) as turn_count,
        max(text) filter (where turn_index = 0) as free_seed,
        max(text) filter (where turn_index = 1) as guided_seed,
    from main.turns
    where starts_with(dialogue_id, 'blended_skill_talk:')
    group by dialogue_id
),

personas as (
    select
        persona_uses.record_id,
        persona_uses.dialogue_id,
        max(personas.text) filter (where persona_uses.position = 0) as first_sentence,
        max(personas.text) filter (where persona_uses.position = 1) as second_sentence,
    from main.persona_uses
    inner join main.personas on personas.persona_id = persona_uses.persona_id
    where persona_uses.persona_set = 'guided' and starts_with(persona_uses.record_id, 'blended_skill_talk/')
    group by persona_uses.record_id, persona_uses.dialogue_id
),

suggestions as (
    select
        candidates.record_id,
        candidates.dialogue_id,
        candidates.turn_index,
        max(texts.text) filter (where candidates.source = 'convai2') as convai2,
        max(texts.text) filter (where candidates.source = 'empathetic_dialogues') as empathetic_dialogues,
        max(texts.text) filter (where candidates.source = 'wizard_of_wikipedia') as wizard_of_wikipedia,
    from main.candidates
    inner join main.texts on texts.text_id = candidates.text_id
    where candidates.candidate_set = 'suggestion' and starts_with(candidates.record_id, 'blended_skill_talk/')
    group by candidates.record_id, candidates.dialogue_id, candidates.turn_index
),

labels as (
    select
        candidates.record_id,
        candidates.dialogue_id,
        candidates.turn_index,
        list(texts.text order by candidates.position) as label_candidates,
    from main.candidates
    inner join main.texts on texts.text_id = candidates.text_id
    where candidates.candidate_set = 'label'
        and candidates.dialogue_id is not null
        and starts_with(candidates.record_id, 'blended_skill_talk/')
    group by candidates.record_id, candidates.dialogue_id, candidates.turn_index
)

select
    records.record_id,
    records.split,
    records.record_index,
    records.dialogue_id,
    turns.turn_index,
    (turns.turn_index - 3) // 2 as entry_index,
    case
        when turns.turn_index = 3 then
            concat_ws(
                chr(10),
                'your persona: ' || personas.first_sentence,
                'your persona: ' || personas.second_sentence,
                case
                    when dialogues.domain = 'wizard_of_wikipedia' then dialogues.extra ->> 'additional_context'
                end,
                talks.free_seed,
                talks.guided_seed,
                messages.text
            )
        else messages.text
    end as text,
    turns.text as label,
    dialogues.domain as context_dataset,
    messages.text as free_message,
    suggestions.convai2,
    suggestions.empathetic_dialogues,
    suggestions.wizard_of_wikipedia,
    annotations.label as guided_chosen_suggestion,
    turns.turn_index + 2 >= talks.turn_count as episode_done,
    case
        when list_contains((records.extra -> 'fields')::varchar[], 'label_candidates') then coalesce(labels.label_candidates, [])
    end as label_candidates,
from main.records
inner join main.dialogues on dialogues.dialogue_id = records.dialogue_id
inner join talks on talks.dialogue_id = records.dialogue_id
inner join main.turns
    on turns.dialogue_id = records.dialogue_id and turns.kind = 'message' and turns.role = 'guided'
inner join main.turns as messages
    on messages.dialogue_id = turns.dialogue_id and messages.turn_index = turns.turn_index - 1
inner join personas on personas.record_id = records.record_id and personas.dialogue_id = records.dialogue_id
inner join suggestions
    on suggestions.record_id = records.record_id
    and suggestions.dialogue_id = records.dialogue_id
    and suggestions.turn_index = turns.turn_index
inner join main.annotations
    on annotations.record_id = records.record_id
    and annotations.dialogue_id = records.dialogue_id
    and annotations.turn_index = turns.turn_index
    and annotations.scheme = 'blended_skill_talk.chosen_suggestion'
left join labels
    on labels.record_id = records.record_id
    and labels.dialogue_id = records.dialogue_id
    and labels.turn_index = turns.turn_index
where records.corpus_id = 'blended_skill_talk'
