-- DeliData: each person of a group at each row of its file, with the solution (the cards to turn) that the tracker then has for him or her; where it knows none, there is no row.
-- grain: record_id, turn_index, speaker_id
-- identifying: message_speaker_name = name; previous_message_speaker_name = name
--   corpus_id: delidata.
--   release: Null: the corpus was published once, and its publisher's release has no name.
--   record_id: The file of the group; of a group that is there twice, the first.
--   native_id: The publisher's id of the group.
--   group_size: People of the group, as its INITIAL row names them.
--   turn_index: 0-based row of the group's file; the solution is the one after this row.
--   kind: initial, message or submit: what the row is, whoever wrote it.
--   speaker_id: The person who has the solution; those whom the INITIAL row does not name are left out, though the tracker has them.
--   speaker_name: Alias of the person; an alias means nothing outside of its group.
--   solution: The cards, in the order of the group's four, such as 2, A; none where the person has chosen no card.
--   solution_type: What the cards are, in this order: vowel, odd, consonant, even; none where there is no card. Vowel, odd is the right solution; cards of two groups can be compared by it.
--   score: What the solution scores, 0 to 1, computed by the published rule: a quarter each for a vowel, an odd number, no consonant and no even number. 1 is the right solution.
--   first_solution_type: solution_type before the discussion, in the group's INITIAL row; null where the tracker knows no solution of the person there.
--   first_score: What that solution scores.
--   previous_solution: The last solution that the tracker had for the person before this row; null where it had none.
--   previous_score: What that one scores.
--   is_first: True in the group's INITIAL row: what the person chose before the discussion. A person of whom the tracker knows no solution there has no such row.
--   is_last: True in the last row with a solution of the person: what he or she ends with.
--   is_changed: True where the solution is another than the previous one; the first that becomes known of a person during the discussion is none. The tracker follows what people write, too: a message that weighs one card is a change to that card until the next one, so for what a person settles on, compare the first row with the last, or take only submits.
--   is_submit: True where the person hands the solution in at this row.
--   message_turn_index: Where the person's own message changed the solution, the row of that message, which is this one; null where the solution did not change, or was handed in.
--   message_speaker_name: Who wrote that message: the person.
--   message_type: What that message does for deliberation, as annotated.
--   message_text: What that message says, verbatim: the new solution in the person's own words.
--   previous_message_turn_index: Where the solution changed, by a message or by a submit, the row of the last message of the group before; null where there is none. It came before the change, and need not be its reason.
--   previous_message_speaker_name: Who wrote the message before.
--   previous_message_type: What the message before does for deliberation, as annotated.
--   previous_message_text: What the message before says, verbatim.
--   team_performance: Mean score of everybody's solution after this row, 0 to 1, as published; it counts those left out here.
with
held as (
    select
        record_id,
        turn_index,
        annotator_id,
        list(coalesce(label, '') order by label) as cards,
    from main.annotations
    where scheme = 'delidata.tracker'
    group by record_id, turn_index, annotator_id
),

group_cards as (
    select
        publications.corpus_id,
        publications.release,
        publications.split,
        publications.standard_split,
        publications.subset,
        publications.record_id,
        publications.dialogue_id,
        dialogues.native_id,
        (dialogues.extra -> 'cards')::varchar[] as cards,
    from bi.publications
    inner join main.dialogues on dialogues.dialogue_id = publications.dialogue_id
    where publications.corpus_id = 'delidata'
),

people as (
    select
        participants.dialogue_id,
        participants.speaker_id,
        speakers.name as speaker_name,
        count(*) over (partition by participants.dialogue_id) as group_size,
    from main.participants
    inner join main.speakers on speakers.speaker_id = participants.speaker_id
    where starts_with(participants.dialogue_id, 'delidata:') and speakers.kind = 'human'
),

-- Of each group, the cards that somebody holds at once: people keep theirs for many rows.
sets as (
    select distinct record_id, cards
    from held
),

solutions as (
    select
        sets.record_id,
        sets.cards,
        coalesce(
            nullif(
                array_to_string(
                    list_filter(group_cards.cards, lambda card: list_contains(sets.cards, card))
                    || list_filter(sets.cards, lambda card: not list_contains(group_cards.cards, card)),
                    ', '
                ),
                ''
            ),
            'none'
        ) as solution,
    from sets
    inner join group_cards on group_cards.record_id = sets.record_id
    where not list_contains(sets.cards, 'N/A')
),

typed as (
    select
        *,
        coalesce(
            nullif(
                concat_ws(
                    ', ',
                    case when regexp_extract(solution, '[AEIOUY]', 0) <> '' then 'vowel' end,
                    case when regexp_extract(solution, '[13579]', 0) <> '' then 'odd' end,
                    case when regexp_extract(solution, '[B-DF-HJ-NP-TV-XZ]', 0) <> '' then 'consonant' end,
                    case when regexp_extract(solution, '[02468]', 0) <> '' then 'even' end
                ),
                ''
            ),
            'none'
        ) as solution_type,
    from solutions
),

scored as (
    select
        *,
        0.25::double * (
            contains(solution_type, 'vowel')::integer
            + contains(solution_type, 'odd')::integer
            + (not contains(solution_type, 'consonant'))::integer
            + (not contains(solution_type, 'even'))::integer
        ) as score,
    from typed
),

owned as (
    select
        group_cards.*,
        held.turn_index,
        people.speaker_id,
        people.speaker_name,
        people.group_size,
        scored.solution,
        scored.solution_type,
        scored.score,
    from held
    inner join scored on scored.record_id = held.record_id and scored.cards = held.cards
    inner join group_cards on group_cards.record_id = held.record_id
    inner join people on people.dialogue_id = group_cards.dialogue_id and people.speaker_name = held.annotator_id
),

compared as (
    select
        *,
        lag(solution) over so_far as previous_solution,
        lag(score) over so_far as previous_score,
        -- The tracker may learn of a solution only while the group talks: the first one known need not be from before.
        max(case when turn_index = 0 then solution_type end) over so_far as first_solution_type,
        max(case when turn_index = 0 then score end) over so_far as first_score,
        lead(turn_index) over so_far is null as is_last,
    from owned
    window so_far as (partition by record_id, speaker_id order by turn_index)
),

rows_of_files as (
    select
        dialogue_id,
        turn_index,
        speaker_id,
        kind,
        text,
        max(case when kind = 'message' then turn_index end) over (
            partition by dialogue_id
            order by turn_index
            rows between unbounded preceding and 1 preceding
        ) as previous_message_turn_index,
    from main.turns
    where starts_with(dialogue_id, 'delidata:')
),

labels as (
    select
        record_id,
        turn_index,
        max(label) filter (where scheme = 'delidata.type') as message_type,
        max(value) filter (where scheme = 'delidata.team_performance') as team_performance,
    from main.annotations
    where scheme in ('delidata.type', 'delidata.team_performance')
    group by record_id, turn_index
)

select
    compared.corpus_id,
    compared.release,
    compared.split,
    compared.standard_split,
    compared.subset,
    compared.record_id,
    compared.dialogue_id,
    compared.native_id,
    compared.group_size,
    compared.turn_index,
    rows_of_files.kind,
    compared.speaker_id,
    compared.speaker_name,
    compared.solution,
    compared.solution_type,
    compared.score,
    compared.first_solution_type,
    compared.first_score,
    compared.previous_solution,
    compared.previous_score,
    compared.turn_index = 0 as is_first,
    compared.is_last,
    coalesce(compared.solution <> compared.previous_solution, false) as is_changed,
    rows_of_files.kind = 'submit'
        and rows_of_files.speaker_id is not distinct from compared.speaker_id as is_submit,
    messages.turn_index as message_turn_index,
    authors.name as message_speaker_name,
    case when messages.turn_index is not null then labels.message_type end as message_type,
    messages.text as message_text,
    previous_messages.turn_index as previous_message_turn_index,
    previous_authors.name as previous_message_speaker_name,
    previous_labels.message_type as previous_message_type,
    previous_messages.text as previous_message_text,
    labels.team_performance,
from compared
inner join rows_of_files
    on rows_of_files.dialogue_id = compared.dialogue_id and rows_of_files.turn_index = compared.turn_index
left join labels on labels.record_id = compared.record_id and labels.turn_index = compared.turn_index
left join rows_of_files as messages
    on messages.dialogue_id = compared.dialogue_id
    and messages.turn_index = compared.turn_index
    and messages.speaker_id = compared.speaker_id
    and messages.kind = 'message'
    and compared.solution <> compared.previous_solution
left join main.speakers as authors on authors.speaker_id = messages.speaker_id
left join rows_of_files as previous_messages
    on previous_messages.dialogue_id = compared.dialogue_id
    and previous_messages.turn_index = rows_of_files.previous_message_turn_index
    and compared.solution <> compared.previous_solution
left join main.speakers as previous_authors on previous_authors.speaker_id = previous_messages.speaker_id
left join labels as previous_labels
    on previous_labels.record_id = compared.record_id
    and previous_labels.turn_index = previous_messages.turn_index
