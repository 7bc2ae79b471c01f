-- Each persona sentence that is safe to use, in the standard form in which ParlAI compares them.
-- grain: sentence
--   sentence: The standard form, see the macro standardized.
with
uses as (
    select persona_uses.record_id, persona_uses.position, persona_uses.persona_id
    from main.records
    inner join main.persona_uses on persona_uses.record_id = records.record_id
    where records.corpus_id = 'blended_skill_talk'
        and records.subset = 'safe_personas'
        and records.extra ->> 'repeats' is null
),

texts as (
    select personas.persona_id, personas.text, blended_skill_talk.strip(personas.text) <> personas.text as has_edges
    from main.personas
    semi join uses on uses.persona_id = personas.persona_id
),

-- ParlAI strips spaces from the ends of a line, not of its sentences.
edges as (
    select
        texts.text,
        uses.position = 0 as is_first,
        uses.position = (select max(others.position) from uses as others where others.record_id = uses.record_id)
            as is_last,
    from texts
    inner join uses on uses.persona_id = texts.persona_id
    where texts.has_edges
)

select blended_skill_talk.standardized(text) as sentence
from texts
where not has_edges
union
select
    blended_skill_talk.standardized(
        case
            when is_first and is_last then blended_skill_talk.strip(text)
            when is_first then ltrim(text, blended_skill_talk.blanks())
            when is_last then rtrim(text, blended_skill_talk.blanks())
            else text
        end
    )
from edges
