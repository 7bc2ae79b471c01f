-- Each example of each task with its source and the text of its turn; the full inputs are in the task's own view.
-- grain: corpus_id, task, release, split, example_index
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True in the default publication of the dialogue: filter by it to count an example once that several of the publisher's releases have.
--   native_id: The publisher's id of the dialogue, verbatim; null where there is none.
--   turn_index: The turn that is labelled or answered; null where the example is a whole dialogue.
--   text: What that turn says, verbatim; null where the example is a whole dialogue.
--   speaker_id: Who said it.
--   speaker_name: Name or alias of who said it.
--   role: Role of who said it: user, system, agent ...
--   source_file_id: The file that it was made from: its path, and after '!' the path inside an archive.
--   source_pointer: JSON pointer, or line, in that file; empty for the whole file.
select
    examples.corpus_id,
    examples.task,
    examples.release,
    examples.split,
    records.standard_split,
    examples.example_index,
    examples.record_id,
    examples.dialogue_id,
    dialogues.native_id,
    examples.turn_index,
    records.subset,
    coalesce(default_releases.release = records.release, default_releases.release is null) as is_default,
    dialogues.language,
    dialogues.domain,
    dialogues.title,
    turns.text,
    turns.speaker_id,
    speakers.name as speaker_name,
    turns.role,
    records.source_file_id,
    records.source_pointer,
    examples.item_index,
from main.examples
inner join main.records on records.record_id = examples.record_id
left join bi.default_releases on default_releases.dialogue_id = records.dialogue_id
left join main.dialogues on dialogues.dialogue_id = examples.dialogue_id
left join main.turns
    on turns.dialogue_id = examples.dialogue_id and turns.turn_index = examples.turn_index
left join main.speakers on speakers.speaker_id = turns.speaker_id
