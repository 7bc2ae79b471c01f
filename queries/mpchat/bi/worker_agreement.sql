-- MPChat: the votes of the workers on each pair of a message and a persona element, and how far they agree.
-- grain: record_id, turn_index, persona_set, persona_position
--   corpus_id: mpchat.
--   release: Null: the corpus was published once, and its publisher's release has no name.
--   record_id: The record that published the votes.
--   subreddit: Subreddit of the thread; null where the publisher names none.
--   turn_index: 0-based position of the message.
--   persona_set: grounded or ungrounded: the published list that the element is in.
--   persona_position: 0-based position in that list.
--   message: The message, verbatim.
--   persona_text: The sentence of the persona element.
--   worker_count: Workers who voted; three as a rule.
--   entailed_count: Workers who say that the message is entailed by the element.
--   is_entailed: True where more than half of the workers say so.
--   is_unanimous: True where all workers say the same.
--   pair_count: Pairs of workers.
--   same_pair_count: Of these, pairs who say the same.
--   pairwise_agreement: same_pair_count by pair_count, 0 to 1; null where one worker voted.
--   label_overall: The published label of all workers together; null where there is none.
with
votes as (
    select
        record_id,
        dialogue_id,
        turn_index,
        persona_set,
        persona_position,
        persona_id,
        count(value) filter (where scheme = 'mpchat.entailment') as worker_count,
        count(*) filter (where scheme = 'mpchat.entailment' and value = 1) as entailed_count,
        max(label) filter (where scheme = 'mpchat.entailment_overall') as label_overall,
    from main.annotations
    where scheme in ('mpchat.entailment', 'mpchat.entailment_overall')
    group by record_id, dialogue_id, turn_index, persona_set, persona_position, persona_id
)

select
    records.corpus_id,
    records.release,
    records.split,
    records.standard_split,
    votes.record_id,
    votes.dialogue_id,
    dialogues.domain as subreddit,
    votes.turn_index,
    votes.persona_set,
    votes.persona_position,
    turns.text as message,
    personas.text as persona_text,
    votes.worker_count,
    votes.entailed_count,
    votes.entailed_count * 2 > votes.worker_count as is_entailed,
    votes.entailed_count in (0, votes.worker_count) as is_unanimous,
    votes.worker_count * (votes.worker_count - 1) // 2 as pair_count,
    (
        votes.entailed_count * (votes.entailed_count - 1)
        + (votes.worker_count - votes.entailed_count) * (votes.worker_count - votes.entailed_count - 1)
    ) // 2 as same_pair_count,
    case when votes.worker_count > 1
        then (
            votes.entailed_count * (votes.entailed_count - 1)
            + (votes.worker_count - votes.entailed_count) * (votes.worker_count - votes.entailed_count - 1)
        )::double / (votes.worker_count * (votes.worker_count - 1))
    end as pairwise_agreement,
    votes.label_overall,
from votes
inner join main.records on records.record_id = votes.record_id
inner join main.dialogues on dialogues.dialogue_id = votes.dialogue_id
inner join main.personas on personas.persona_id = votes.persona_id
left join main.turns on turns.dialogue_id = votes.dialogue_id and turns.turn_index = votes.turn_index
where records.corpus_id = 'mpchat' and records.extra ->> 'repeats' is null
