-- Each label of a span of a turn's text, with the words that it is about.
-- grain: record_id, turn_index, persona_set, persona_position, scheme, annotator_index, item_index
-- scope: dialogue
--   corpus_id: Corpus of the scheme.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True in the default publication of the dialogue: filter by it to count a label once that several of the publisher's releases have.
--   record_id: The record that published the label; an input file that occurs twice counts once.
--   turn_index: The turn that the span is in.
--   item_index: 0-based position among the labels that one annotator gives the turn.
--   start_index: Where the span begins: 0-based, in code points.
--   end_index: Where it ends, exclusive.
--   span: The words of the span, verbatim: text[start_index + 1 : end_index] in SQL, text[start_index:end_index] in Python.
--   label_meaning: What the label means; null if it is not declared.
--   text: What the whole turn says, verbatim.
--   role: Role of who said the turn: user, system, agent ...
select
    records.corpus_id,
    records.release,
    records.split,
    records.standard_split,
    records.subset,
    coalesce(default_releases.release = records.release, default_releases.release is null) as is_default,
    annotations.record_id,
    annotations.dialogue_id,
    annotations.turn_index,
    annotations.persona_set,
    annotations.persona_position,
    dialogues.language,
    annotations.scheme,
    annotations.annotator_index,
    annotations.item_index,
    annotations.annotator_id,
    annotations.label,
    annotations.value,
    labels.meaning as label_meaning,
    annotations.start_index,
    annotations.end_index,
    substring(
        turns.text, annotations.start_index + 1, greatest(annotations.end_index - annotations.start_index, 0)
    ) as span,
    turns.text,
    turns.role,
from main.annotations
inner join main.records on records.record_id = annotations.record_id
inner join main.turns
    on turns.dialogue_id = annotations.dialogue_id
    and turns.turn_index = annotations.turn_index
left join main.dialogues on dialogues.dialogue_id = annotations.dialogue_id
left join main.labels
    on labels.scheme = annotations.scheme and labels.label = annotations.label
left join bi.default_releases on default_releases.dialogue_id = records.dialogue_id
where annotations.start_index is not null
    and annotations.end_index is not null
    and records.extra ->> 'repeats' is null
