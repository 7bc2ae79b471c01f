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
    select
        personas.persona_id,
        personas.text,
        blended_skill_talk.strip(personas.text) <> personas.text or contains(personas.text, chr(13)) as has_edges,
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
),

-- To Python, a lone carriage return ends a line too; one before the line feed belongs to it.
returns as (
    select is_first, is_last, string_split(text, chr(13)) as lines
    from edges
),

lines as (
    select
        unnest(lines) as text,
        unnest(range(len(lines))) as line_index,
        len(lines) as line_count,
        is_first,
        is_last,
    from returns
),

ends as (
    select
        text,
        is_first or line_index > 0 as begins,
        is_last or line_index < line_count - 1 as ends,
    from lines
    where not (is_last and text = '' and line_index > 0 and line_index = line_count - 1)
)

select blended_skill_talk.standardized(text) as sentence
from texts
where not has_edges
union
select
    blended_skill_talk.standardized(
        case
            when begins and ends then blended_skill_talk.strip(text)
            when begins then ltrim(text, blended_skill_talk.blanks())
            when ends then rtrim(text, blended_skill_talk.blanks())
            else text
        end
    )
from ends
