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
        (pair -> '$[1].text_candidates')::varchar[] as answers,
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
    case
        when acts.answers is not null
            then list_transform(
                acts.answers,
                -- ParlAI writes a candidate without the blank that the view keeps at the end of the last.
                lambda answer: coalesce(
                    list_position(examples.label_candidates, answer),
                    list_position(list_transform(examples.label_candidates, lambda one: trim(one)), trim(answer))
                ) - 1
            )
    end as ranking,
    'episode ' || acts.line_index || ', pair ' || (acts.place - 1) as key,
from acts
left join examples on examples.example_number = acts.example_number and examples.said = acts.said
