-- Persona contexts: for each episode what ParlAI shows the two sides of an interactive chat, and whether its list of safe personas allows it.
-- grain: split, example_index
-- task_category: text-generation
--   free_context: Two persona sentences of the free worker, the topic (Wizard of Wikipedia only), and the two seed utterances.
--   guided_context: The same with the guided worker's persona.
--   is_safe: Whether every persona sentence of both workers is in the list of safe ones, which ParlAI's default asks for; null without that list.
--   free_persona: free_context without the seed utterances, as interactive chat has it by default.
--   guided_persona: guided_context without the seed utterances.
with
seeds as (
    select
        dialogue_id,
        max(text) filter (where turn_index = 0) as free_seed,
        max(text) filter (where turn_index = 1) as guided_seed,
    from main.turns
    where kind = 'seed' and starts_with(dialogue_id, 'blended_skill_talk:')
    group by dialogue_id
),

sentences as (
    select
        persona_uses.record_id,
        persona_uses.dialogue_id,
        max('your persona: ' || personas.text)
            filter (where persona_uses.persona_set = 'free' and persona_uses.position = 0) as free_first,
        max('your persona: ' || personas.text)
            filter (where persona_uses.persona_set = 'free' and persona_uses.position = 1) as free_second,
        max('your persona: ' || personas.text)
            filter (where persona_uses.persona_set = 'guided' and persona_uses.position = 0) as guided_first,
        max('your persona: ' || personas.text)
            filter (where persona_uses.persona_set = 'guided' and persona_uses.position = 1) as guided_second,
        bool_and(safe_sentences.sentence is not null) as is_safe,
    from main.persona_uses
    inner join main.personas on personas.persona_id = persona_uses.persona_id
    left join blended_skill_talk.safe_sentences
        on safe_sentences.sentence = blended_skill_talk.standardized(personas.text)
    where persona_uses.dialogue_id is not null and starts_with(persona_uses.record_id, 'blended_skill_talk/')
    group by persona_uses.record_id, persona_uses.dialogue_id
),

contexts as (
    select
        sentences.*,
        case
            when dialogues.domain = 'wizard_of_wikipedia' then dialogues.extra ->> 'additional_context'
        end as topic,
    from sentences
    inner join main.dialogues on dialogues.dialogue_id = sentences.dialogue_id
)

select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    concat_ws(
        chr(10), contexts.free_first, contexts.free_second, contexts.topic, seeds.free_seed, seeds.guided_seed
    ) as free_context,
    concat_ws(
        chr(10), contexts.guided_first, contexts.guided_second, contexts.topic, seeds.free_seed, seeds.guided_seed
    ) as guided_context,
    case
        when exists (
            select 1
            from main.records as lists
            where lists.corpus_id = 'blended_skill_talk' and lists.subset = 'safe_personas'
        ) then contexts.is_safe
    end as is_safe,
    concat_ws(chr(10), contexts.free_first, contexts.free_second, contexts.topic) as free_persona,
    concat_ws(chr(10), contexts.guided_first, contexts.guided_second, contexts.topic) as guided_persona,
    examples.record_id,
    true as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join contexts on contexts.record_id = examples.record_id and contexts.dialogue_id = examples.dialogue_id
inner join seeds on seeds.dialogue_id = examples.dialogue_id
where examples.corpus_id = 'blended_skill_talk' and examples.task = 'persona_context'
