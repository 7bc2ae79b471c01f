-- How far the annotators agree on each turn (or dialogue, record, persona) that two or more of them labelled.
-- grain: record_id, turn_index, persona_set, persona_position, scheme
--   corpus_id: Corpus of the scheme.
--   release: Release, as its path names it; null where it has no name, as in a corpus with one release.
--   scheme: Annotation scheme; left out are those whose labels go together and are not votes, see why_not_compared in bi.schemes.
--   record_id: The record that published the labels; an input file that occurs twice counts once.
--   turn_index: The labelled turn; null: the whole dialogue, record or persona.
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
    split,
    standard_split,
    subset,
    annotator_count
