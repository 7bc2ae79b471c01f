-- DBDC3: how often the dialogues with each bot break down, system turn by system turn, from the labels of all annotators.
-- grain: release, is_default, split, language, subset, bot, position
-- terms: none
--   corpus_id: dbdc3.
--   release: Publisher's release, as its path names it: dbdc3, dbdc3_revised, dev_zips ...; null where the path names none.
--   is_default: True for turns in the default publications of their dialogues: filter by it to count a turn once that several of the publisher's releases have.
--   split: Split, by the publisher's own name.
--   subset: The published folder of the dialogues: IRIS_100, CIC_115 ...
--   bot: The chat system: IRIS, TickTock, CIC, YI, DCM, DIT or IRS.
--   position: 0-based position among the labelled system turns of a dialogue.
--   turn_count: Labelled system turns at this position.
--   o_count: Labels O, not a breakdown, by all annotators of these turns.
--   t_count: Labels T, possible breakdown.
--   x_count: Labels X, breakdown.
--   share_o: Mean, over the turns, of the share of annotators who say O; weigh it by turn_count to combine rows, as the other means.
--   share_t: Mean share of annotators who say T.
--   share_x: Mean share of annotators who say X.
--   breakdown_count: Turns whose hard label is X at threshold 0.0, the challenge's default.
--   breakdown_at_half_count: Turns whose hard label is X at threshold 0.5, which its documented runs use.
--   lenient_breakdown_count: Turns whose lenient label is X_l: T and X together outweigh O.
--   breakdown_rate: breakdown_count by turn_count, 0 to 1.
--   breakdown_rate_at_half: breakdown_at_half_count by turn_count.
--   lenient_breakdown_rate: lenient_breakdown_count by turn_count.
--   mean_entropy: Mean entropy in bits of the shares of O, T and X on a turn: 0 where all annotators agree.
with
labelled as (
    select
        breakdown_detection.release,
        coalesce(default_releases.release = breakdown_detection.release, default_releases.release is null) as is_default,
        breakdown_detection.split,
        breakdown_detection.standard_split,
        breakdown_detection.language,
        breakdown_detection.subset,
        speakers.name as bot,
        row_number() over (
            partition by breakdown_detection.record_id
            order by breakdown_detection.turn_index
        ) - 1 as position,
        breakdown_detection.count_o,
        breakdown_detection.count_t,
        breakdown_detection.count_x,
        breakdown_detection.prob_o,
        breakdown_detection.prob_t,
        breakdown_detection.prob_x,
        breakdown_detection.label,
        breakdown_detection.label_at_half,
        breakdown_detection.lenient_label,
    from dbdc3.breakdown_detection
    inner join main.turns
        on turns.dialogue_id = breakdown_detection.dialogue_id
        and turns.turn_index = breakdown_detection.turn_index
    left join bi.default_releases on default_releases.dialogue_id = breakdown_detection.dialogue_id
    left join main.speakers on speakers.speaker_id = turns.speaker_id
)

select
    'dbdc3' as corpus_id,
    release,
    is_default,
    split,
    standard_split,
    language,
    subset,
    bot,
    position,
    count(*) as turn_count,
    sum(count_o)::bigint as o_count,
    sum(count_t)::bigint as t_count,
    sum(count_x)::bigint as x_count,
    avg(prob_o) as share_o,
    avg(prob_t) as share_t,
    avg(prob_x) as share_x,
    count_if(label = 'X')::bigint as breakdown_count,
    count_if(label_at_half = 'X')::bigint as breakdown_at_half_count,
    count_if(lenient_label = 'X_l')::bigint as lenient_breakdown_count,
    avg((label = 'X')::integer) as breakdown_rate,
    avg((label_at_half = 'X')::integer) as breakdown_rate_at_half,
    avg((lenient_label = 'X_l')::integer) as lenient_breakdown_rate,
    -- A share of 0 adds nothing; its logarithm is null.
    avg(
        coalesce(prob_o * log2(1 / nullif(prob_o, 0)), 0)
        + coalesce(prob_t * log2(1 / nullif(prob_t, 0)), 0)
        + coalesce(prob_x * log2(1 / nullif(prob_x, 0)), 0)
    ) as mean_entropy,
from labelled
group by release, is_default, split, standard_split, language, subset, bot, position
