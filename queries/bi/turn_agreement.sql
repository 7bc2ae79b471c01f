-- How far the annotators agree on each turn (or dialogue, record, persona) that two or more of them labelled.
-- grain: record_id, turn_index, persona_set, persona_position, scheme
-- identifying: known_speaker_name = name; previous_speaker_name = name
--   corpus_id: Corpus of the scheme.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True in the default publication of the dialogue: filter by it to count a turn once that several of the publisher's releases have.
--   scheme: Annotation scheme; left out are those whose labels go together and are not votes, see why_not_compared in bi.schemes. Measures of different schemes can't be averaged.
--   record_id: The record that published the labels; an input file that occurs twice counts once.
--   turn_index: The labelled turn; null: the whole dialogue, record or persona.
--   language: ISO 639-1 code of the dialogue.
--   speaker_name: Name or alias of who said the turn.
--   known_speaker_name: Name of who said it, where it is the same in every dialogue: group by this. Null where there is no name, or an alias that may be that of others elsewhere.
--   speaker_kind: human, bot or system.
--   text: What the turn says, verbatim; null if the labels are not about a turn.
--   previous_speaker_name: Name or alias of who said the turn before; null for the first.
--   previous_role: Role of who said the turn before.
--   previous_text: What the turn before says, verbatim.
--   annotator_count: Annotators who labelled it in this scheme.
--   distinct_label_count: Different labels that they gave.
--   majority_label: The label that most annotators gave; on a tie, the first of these in the order of characters.
--   majority_count: Annotators who gave it.
--   majority_share: majority_count by annotator_count, 0 to 1.
--   is_tied: True where another label was given just as often.
--   entropy: Entropy of the labels in bits: 0 where all say the same.
--   pair_count: Pairs of annotators.
--   same_pair_count: Of these, pairs who gave the same label.
--   pairwise_agreement: same_pair_count by pair_count, 0 to 1.
with
measured as (
    select
        corpus_id,
        record_id,
        dialogue_id,
        turn_index,
        persona_set,
        persona_position,
        persona_id,
        scheme,
        release,
        is_default,
        split,
        standard_split,
        subset,
        annotator_count,
        count(*) as distinct_label_count,
        min_by(label, (-vote_count, label)) as majority_label,
        max(vote_count) as majority_count,
        max(vote_share) as majority_share,
        min_by(label, (-vote_count, label)) <> max_by(label, (vote_count, label)) as is_tied,
        sum(vote_share * log2(1 / vote_share)) as entropy,
        annotator_count * (annotator_count - 1) // 2 as pair_count,
        (sum(vote_count * (vote_count - 1)) // 2)::bigint as same_pair_count,
        sum(vote_count * (vote_count - 1))::double
            / (annotator_count * (annotator_count - 1)) as pairwise_agreement,
    from bi.label_counts
    where scheme_kind = 'single_label' and annotator_count >= 2
    group by
        corpus_id,
        record_id,
        dialogue_id,
        turn_index,
        persona_set,
        persona_position,
        persona_id,
        scheme,
        release,
        is_default,
        split,
        standard_split,
        subset,
        annotator_count
)

select
    measured.corpus_id,
    measured.record_id,
    measured.dialogue_id,
    measured.turn_index,
    measured.persona_set,
    measured.persona_position,
    measured.persona_id,
    measured.scheme,
    measured.release,
    measured.is_default,
    measured.split,
    measured.standard_split,
    measured.subset,
    dialogues.language,
    speakers.name as speaker_name,
    case when not speakers.is_anonymous then speakers.name end as known_speaker_name,
    speakers.kind as speaker_kind,
    turns.text,
    previous_speakers.name as previous_speaker_name,
    previous.role as previous_role,
    previous.text as previous_text,
    measured.annotator_count,
    measured.distinct_label_count,
    measured.majority_label,
    measured.majority_count,
    measured.majority_share,
    measured.is_tied,
    measured.entropy,
    measured.pair_count,
    measured.same_pair_count,
    measured.pairwise_agreement,
from measured
left join main.dialogues on dialogues.dialogue_id = measured.dialogue_id
left join main.turns
    on turns.dialogue_id = measured.dialogue_id and turns.turn_index = measured.turn_index
left join main.speakers on speakers.speaker_id = turns.speaker_id
left join main.turns as previous
    on previous.dialogue_id = measured.dialogue_id and previous.turn_index = measured.turn_index - 1
left join main.speakers as previous_speakers on previous_speakers.speaker_id = previous.speaker_id
