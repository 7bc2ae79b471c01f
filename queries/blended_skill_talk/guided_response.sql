-- Guided response: each answer of the guided worker, exactly as the reference teacher emits it, with what its round trip through text files does.
-- grain: split, example_index
-- task_category: text-generation
--   entry_index: 0-based number of the pair of turns within the episode.
--   text: The free worker's message; in the first entry, above it: the guided worker's first two persona sentences, the topic (Wizard of Wikipedia only) and the two seed utterances.
--   label: The guided worker's answer.
--   context_dataset: Where the context comes from: convai2, empathetic_dialogues or wizard_of_wikipedia.
--   free_message: The free worker's message.
--   convai2: What the model of ConvAI2 suggested.
--   empathetic_dialogues: What the model of EmpatheticDialogues suggested.
--   wizard_of_wikipedia: What the model of Wizard of Wikipedia suggested.
--   guided_chosen_suggestion: The model whose suggestion was taken, else empty; without label candidates and before the last entry, a space follows it.
--   episode_done: Whether this is the episode's last entry.
--   label_candidates: The candidate answers in published order, the last followed by a space; null where the episode has none.
select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    guided_turns.entry_index,
    examples.turn_index,
    blended_skill_talk.round_trip(guided_turns.text) as text,
    blended_skill_talk.round_trip(guided_turns.label) as label,
    blended_skill_talk.round_trip(guided_turns.context_dataset) as context_dataset,
    blended_skill_talk.round_trip(guided_turns.free_message) as free_message,
    blended_skill_talk.round_trip(guided_turns.convai2) as convai2,
    blended_skill_talk.round_trip(guided_turns.empathetic_dialogues) as empathetic_dialogues,
    blended_skill_talk.round_trip(guided_turns.wizard_of_wikipedia) as wizard_of_wikipedia,
    blended_skill_talk.round_trip(guided_turns.guided_chosen_suggestion)
        || case when guided_turns.label_candidates is null and not guided_turns.episode_done then ' ' else '' end
        as guided_chosen_suggestion,
    guided_turns.episode_done,
    case
        when len(guided_turns.label_candidates) = 0 then [' ']
        else
            list_transform(
                guided_turns.label_candidates[:-2],
                lambda candidate: blended_skill_talk.round_trip(candidate)
            )
            || [blended_skill_talk.round_trip(guided_turns.label_candidates[-1]) || ' ']
    end as label_candidates,
    examples.record_id,
    true as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join blended_skill_talk.guided_turns
    on guided_turns.record_id = examples.record_id
    and guided_turns.dialogue_id = examples.dialogue_id
    and guided_turns.turn_index = examples.turn_index
where examples.corpus_id = 'blended_skill_talk' and examples.task = 'guided_response'
