-- Breakdown detection: each annotated system turn with its context, the distribution of its labels and the challenge's hard labels.
-- grain: release, split, example_index
-- label: label
-- scheme: dbdc3.breakdown
-- classes: label_at_half = dbdc3.breakdown; lenient_label = O_l, X_l
-- task_category: text-classification
--   context: The utterances before the turn, in order; empty for the opening turn.
--   utterance: The system utterance that is labelled; may be empty.
--   background: The paragraph that the dialogue is about, verbatim with its final line end (CIC only).
--   count_o: Annotators who say O, not a breakdown.
--   count_t: Annotators who say T, possible breakdown.
--   count_x: Annotators who say X, breakdown.
--   prob_o: Share of O among the labels O, T and X.
--   prob_t: Share of T among the labels O, T and X.
--   prob_x: Share of X among the labels O, T and X.
--   label: The challenge's hard label at threshold 0.0, its script's default.
--   label_at_half: The challenge's hard label at threshold 0.5, which its documented runs use.
--   lenient_label: O_l or X_l: whether T and X together outweigh O.
with
votes as (
    select
        record_id,
        turn_index,
        count(*) filter (where label = 'O') as count_o,
        count(*) filter (where label = 'T') as count_t,
        count(*) filter (where label = 'X') as count_x,
    from main.annotations
    where scheme = 'dbdc3.breakdown'
    group by record_id, turn_index
),

talks as (
    select
        dialogue_id,
        list(text order by turn_index) as utterances,
    from main.turns
    where starts_with(dialogue_id, 'dbdc3:')
    group by dialogue_id
),

distributions as (
    select
        *,
        count_o::double / (count_o + count_t + count_x) as prob_o,
        count_t::double / (count_o + count_t + count_x) as prob_t,
        count_x::double / (count_o + count_t + count_x) as prob_x,
    from votes
)

select
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.dialogue_id,
    records.native_id,
    examples.release,
    dialogues.language,
    records.subset,
    examples.turn_index,
    talks.utterances[1:examples.turn_index] as context,
    talks.utterances[examples.turn_index + 1] as utterance,
    dialogues.extra ->> 'background' as background,
    distributions.count_o,
    distributions.count_t,
    distributions.count_x,
    distributions.prob_o,
    distributions.prob_t,
    distributions.prob_x,
    dbdc3.strict_label(distributions.prob_o, distributions.prob_t, distributions.prob_x, 0.0) as label,
    dbdc3.strict_label(distributions.prob_o, distributions.prob_t, distributions.prob_x, 0.5) as label_at_half,
    dbdc3.lenient_label(distributions.prob_o, distributions.prob_t, distributions.prob_x, 0.0) as lenient_label,
    examples.record_id,
    coalesce(default_releases.release = examples.release, default_releases.release is null) as is_default,
from main.examples
inner join main.records on records.record_id = examples.record_id
inner join main.dialogues on dialogues.dialogue_id = examples.dialogue_id
inner join talks on talks.dialogue_id = examples.dialogue_id
inner join distributions
    on distributions.record_id = examples.record_id and distributions.turn_index = examples.turn_index
left join bi.default_releases on default_releases.dialogue_id = examples.dialogue_id
where examples.corpus_id = 'dbdc3' and examples.task = 'breakdown_detection'
