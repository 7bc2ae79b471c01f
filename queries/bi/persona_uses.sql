-- Each persona (a sentence, or a picture with its title) in each list of a record, with the person whom it describes, if any.
-- grain: record_id, turn_index, persona_set, position
-- identifying: first_persona_id = id
--   corpus_id: Corpus of the record.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True in the default publication of the dialogue, and where there is no dialogue: filter by it to count a persona once that several of the publisher's releases have.
--   record_id: The record that has the list; an input file that occurs twice counts once.
--   turn_index: The turn that the list is about; null: the whole dialogue or record.
--   persona_set: The list, by its name.
--   position: 0-based position in the list.
--   persona_id: The persona; the same wherever it occurs.
--   text: What it says, verbatim.
--   image_file: The picture, if it has one.
--   speaker_id: The person whom it describes; null in lists of personas of nobody in particular.
--   first_persona_id: The first persona of the corpus with the same text and picture: count these, for a published element that came with another score has an id of its own.
--   speaker_name: Name or alias of the person; null where none is published.
with
alike as (
    select
        corpus_id,
        text,
        image_file,
        min(persona_id) as persona_id,
    from main.personas
    group by corpus_id, text, image_file
)

select
    records.corpus_id,
    records.release,
    coalesce(default_releases.release = records.release, default_releases.release is null) as is_default,
    records.split,
    records.standard_split,
    records.subset,
    persona_uses.record_id,
    persona_uses.dialogue_id,
    persona_uses.turn_index,
    persona_uses.persona_set,
    persona_uses.position,
    persona_uses.persona_id,
    alike.persona_id as first_persona_id,
    personas.text,
    personas.image_file,
    persona_uses.speaker_id,
    speakers.name as speaker_name,
from main.persona_uses
inner join main.records on records.record_id = persona_uses.record_id
inner join main.personas on personas.persona_id = persona_uses.persona_id
inner join alike
    on alike.corpus_id = personas.corpus_id
    and alike.text is not distinct from personas.text
    and alike.image_file is not distinct from personas.image_file
left join main.speakers on speakers.speaker_id = persona_uses.speaker_id
left join bi.default_releases on default_releases.dialogue_id = persona_uses.dialogue_id
where records.extra ->> 'repeats' is null
