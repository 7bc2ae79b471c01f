-- Each label by one annotator with what it means, what it is about, and the publisher's release and split that published it.
-- grain: record_id, turn_index, persona_set, persona_position, scheme, annotator_index, item_index
-- scope: dialogue
--   corpus_id: Corpus of the scheme.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True in the default publication of the dialogue: filter by it to count a label once that several of the publisher's releases have.
--   record_id: The record that published the label; an input file that occurs twice counts once.
--   turn_index: The labelled turn; null: the whole dialogue, record or persona.
--   scheme_description: What is labelled, by whom, and how.
--   item_index: 0-based position where one annotator gives several labels.
--   target: What a label of the scheme is about: turn, dialogue, record or persona.
--   label_meaning: What the label means; null if it is not declared.
--   text: What the labelled turn says, verbatim; null if the label is not about a turn.
--   persona_text: The labelled persona sentence or title, verbatim, if the label is about one.
--   role: Role of who said the turn: user, system, agent ...
select
    records.corpus_id,
    annotations.record_id,
    annotations.dialogue_id,
    annotations.turn_index,
    annotations.persona_set,
    annotations.persona_position,
    annotations.scheme,
    annotations.annotator_index,
    annotations.item_index,
    records.release,
    records.split,
    records.standard_split,
    records.subset,
    coalesce(default_releases.release = records.release, default_releases.release is null) as is_default,
    dialogues.language,
    annotations.annotator_id,
    annotations.label,
    annotations.value,
    labels.meaning as label_meaning,
    schemes.description as scheme_description,
    schemes.target,
    turns.text,
    turns.role,
    annotations.persona_id,
    personas.text as persona_text,
    annotations.start_index,
    annotations.end_index,
from main.annotations
inner join main.records on records.record_id = annotations.record_id
inner join main.schemes on schemes.scheme = annotations.scheme
left join main.labels
    on labels.scheme = annotations.scheme and labels.label = annotations.label
left join main.dialogues on dialogues.dialogue_id = annotations.dialogue_id
left join main.turns
    on turns.dialogue_id = annotations.dialogue_id
    and turns.turn_index = annotations.turn_index
left join main.personas on personas.persona_id = annotations.persona_id
left join bi.default_releases on default_releases.dialogue_id = records.dialogue_id
where records.extra ->> 'repeats' is null
