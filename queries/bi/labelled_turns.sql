-- Each labelled turn with its label (that of most annotators), the labels before and after it in the dialogue, and the turns around it.
-- grain: record_id, turn_index, scheme
-- identifying: known_speaker_name = name; previous_speaker_name = name; next_speaker_name = name
--   corpus_id: Corpus of the scheme.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   record_id: The record that published the labels; an input file that occurs twice counts once.
--   is_default: True in the default publication of the dialogue: filter by it to count a turn once that several of the publisher's releases have.
--   scheme: Annotation scheme: filter by it, since labels of two schemes can't be compared. Left out are schemes whose labels go together, see kind in bi.schemes, and labels of a persona.
--   turn_index: The labelled turn.
--   language: ISO 639-1 code of the dialogue.
--   speaker_name: Name or alias of who said it.
--   known_speaker_name: Name of who said it, where it is the same in every dialogue: group by this. Null where there is no name, or an alias that may be that of others elsewhere.
--   speaker_kind: human, bot or system.
--   label: The label that most annotators gave; on a tie, the first of these in the order of characters.
--   vote_count: Annotators who gave it.
--   annotator_count: Annotators who labelled the turn in this scheme.
--   is_tied: True where another label was given just as often.
--   previous_label: label of the turn that the record labels before this one in the scheme, which need not be the one right before; null for the first.
--   next_label: label of the turn that the record labels after this one; null for the last.
--   word_count: Words of the turn, as bi.turns counts them; says little where a language is written without spaces.
--   gap_seconds: Seconds from the turn right before to this one, as in bi.turn_pairs.
--   previous_speaker_name: Name or alias of who said the turn right before; null for the first of the dialogue.
--   previous_role: Role of who said the turn right before.
--   previous_kind: Kind of the turn right before: message, seed, initial, submit ...
--   previous_text: What the turn right before says, verbatim.
--   previous_word_count: Words of the turn right before.
--   next_speaker_name: Name or alias of who says the turn right after; null for the last of the dialogue.
--   next_role: Role of who says the turn right after.
--   next_kind: Kind of the turn right after.
--   next_text: What the turn right after says, verbatim.
--   next_word_count: Words of the turn right after.
--   next_gap_seconds: Seconds from this turn to the one right after.
with
majorities as (
    select
        corpus_id,
        record_id,
        dialogue_id,
        turn_index,
        scheme,
        release,
        is_default,
        split,
        standard_split,
        subset,
        min_by(label, (-vote_count, label)) as label,
        max(vote_count) as vote_count,
        annotator_count,
        min_by(label, (-vote_count, label)) <> max_by(label, (vote_count, label)) as is_tied,
    from bi.label_counts
    where scheme_kind = 'single_label' and turn_index is not null and persona_set is null
    group by
        corpus_id,
        record_id,
        dialogue_id,
        turn_index,
        scheme,
        release,
        is_default,
        split,
        standard_split,
        subset,
        annotator_count
),

compared as (
    select
        *,
        lag(label) over (partition by record_id, dialogue_id, scheme order by turn_index) as previous_label,
        lag(label) over (partition by record_id, dialogue_id, scheme order by -turn_index) as next_label,
    from majorities
)

select
    compared.corpus_id,
    compared.record_id,
    compared.dialogue_id,
    compared.turn_index,
    compared.scheme,
    compared.release,
    compared.split,
    compared.standard_split,
    compared.subset,
    compared.is_default,
    pairs.language,
    pairs.domain,
    pairs.speaker_id,
    pairs.speaker_name,
    pairs.known_speaker_name,
    pairs.speaker_kind,
    pairs.role,
    pairs.kind,
    pairs.text,
    compared.label,
    compared.vote_count,
    compared.annotator_count,
    compared.is_tied,
    compared.previous_label,
    compared.next_label,
    pairs.word_count,
    pairs.gap_seconds,
    pairs.previous_speaker_name,
    pairs.previous_role,
    pairs.previous_kind,
    pairs.previous_text,
    pairs.previous_word_count,
    pairs.next_speaker_name,
    pairs.next_role,
    pairs.next_kind,
    pairs.next_text,
    pairs.next_word_count,
    pairs.next_gap_seconds,
from compared
inner join bi.turn_pairs as pairs
    on pairs.dialogue_id = compared.dialogue_id and pairs.turn_index = compared.turn_index
