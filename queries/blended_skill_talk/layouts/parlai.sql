-- A world log of ParlAI: an episode a line, its pairs of acts in order; the texts of the teacher show that they are the split's.
-- reads: lines
-- tasks: guided_response
with
pairs as (
    select
        line_index,
        unnest(line::json -> '$.dialog[*]') as pair,
        generate_subscripts(line::json -> '$.dialog[*]', 1) as place,
    from lines
    where line <> ''
),

acts as (
    select
        line_index,
        place,
        row_number() over (order by line_index, place) - 1 as example_number,
        pair ->> '$[0].text' as said,
        pair ->> '$[1].text' as text,
        (pair -> '$[1].text_candidates')::varchar[] as text_candidates,
    from pairs
),

examples as (
    select
        keys.*,
        gold.text as said,
        gold.label_candidates,
        row_number() over (order by keys.release, keys.split, keys.example_index) - 1 as example_number,
    from keys
    inner join blended_skill_talk.guided_response as gold
        on gold.example_index = keys.example_index and gold.split = keys.split
)

select
    examples.release,
    examples.split,
    examples.example_index,
    acts.text,
    list_transform(
        blended_skill_talk.numbered_texts(acts.text_candidates),
        lambda answer: list_position(blended_skill_talk.numbered_texts(examples.label_candidates), answer) - 1
    ) as ranking,
    'episode ' || acts.line_index || ', pair ' || (acts.place - 1) as key,
from acts
left join examples on examples.example_number = acts.example_number and examples.said = acts.said
