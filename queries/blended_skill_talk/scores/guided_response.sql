-- How near each answer comes to the guided worker's, by its text and by the rank that the candidates were given.
-- tasks: guided_response, guided_response_clean
-- predicts: text?, scores?
-- metrics: metrics.text, blended_skill_talk.hits
-- oracle: label as text, list_transform(label_candidates, lambda one: (trim(one) = trim(label))::integer::double) as scores
-- counts: len(label_candidates)
with
answers as (
    select
        predicted.* exclude (text, scores),
        -- A missing prediction is a wrong one, not silence.
        case when predicted.is_missing then '' else predicted.text end as text,
        predicted.scores is not null or (predicted.is_missing and gold.label_candidates is not null) as says,
        predicted.scores,
        gold.label,
        metrics.normalised(gold.label) as answer,
        gold.label_candidates,
    from predicted
    inner join gold on gold.example_index = predicted.example_index and gold.split = predicted.split
),

listed as (
    select
        example_index,
        split,
        label,
        answer,
        list_reduce(
            metrics.words(answer),
            lambda longest, word: case when len(word) > len(longest) then word else longest end,
            ''
        ) as longest_word,
        unnest(label_candidates) as candidate,
        unnest(scores) as score,
        unnest(range(len(label_candidates))) as place,
    from answers
    where len(scores) = len(label_candidates)
),

-- To normalise a text in lower case puts blanks in place of some of it and changes nothing else, so each word that is
-- left stands in the text. Only candidates in which the answer's longest word stands can be equal to it: few do.
possible as (
    select
        example_index,
        split,
        metrics.normalised(candidate) = answer as is_right,
        trim(candidate) = trim(label) as is_equal,
        place,
        score,
    from listed
    where contains(metrics.lower_case(candidate), longest_word)
),

bests as (
    select
        example_index,
        split,
        list(score) filter (where is_right) as right_scores,
        -- Minus infinity is the score of what was not ranked.
        nullif(max(score) filter (where is_right), '-inf'::double) as best,
        -- The agent looks for the first candidate that is the answer.
        nullif(arg_min(score, place) filter (where is_equal), '-inf'::double) as first,
    from possible
    group by example_index, split
),

places as (
    select
        answers.example_index,
        answers.split,
        bests.best is not null as has_right,
        bests.first is not null as has_first,
        len(list_filter(answers.scores, lambda score: score > bests.best)) as above,
        len(list_filter(answers.scores, lambda score: score = bests.best)) as tied_with_best,
        len(list_filter(bests.right_scores, lambda score: score = bests.best)) as right_ones,
        len(list_filter(answers.scores, lambda score: score > bests.first)) as first_above,
        len(list_filter(answers.scores, lambda score: score = bests.first)) as first_tied,
    from answers
    inner join bests on bests.example_index = answers.example_index and bests.split = answers.split
)

select
    answers.release,
    answers.split,
    answers.example_index,
    answers.record_id,
    answers.dialogue_id,
    case when answers.scores is not null then metrics.list_problem(answers.scores, len(answers.label_candidates)) end
        as problem,
    metrics.normalised(answers.text) as guess,
    answers.answer,
    answers.says,
    len(answers.label_candidates) as candidates,
    case when places.has_right then places.above end as above,
    case when places.has_right then places.tied_with_best end as tied_with_best,
    case when places.has_right then places.right_ones end as right_ones,
    case when places.has_first then places.first_above end as first_above,
    case when places.has_first then places.first_tied end as first_tied,
    case
        when places.has_right and (places.tied_with_best > places.right_ones or places.first_tied > 1)
            then greatest(places.tied_with_best, places.first_tied)
        else 1
    end as tied,
from answers
left join places on places.example_index = answers.example_index and places.split = answers.split
