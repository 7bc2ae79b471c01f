-- Each turn of each publication of a dialogue that answers another, with the turn that it answers.
-- grain: record_id, turn_index
-- scope: dialogue
--   corpus_id: Corpus of the dialogue.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True in the default publication of the dialogue: filter by it to count a reply once that several of the publisher's releases have.
--   record_id: The record that publishes the dialogue, as in bi.record_dialogues.
--   is_first_in_split: True in one publication of each dialogue within publisher's release and split: filter by it to count a reply once that several subsets of a split have.
--   turn_index: The turn that answers.
--   reply_to: turn_index of the turn that it answers.
--   distance: How many turns the answered one is before it; 1 is the one right before it.
--   language: ISO 639-1 code of the dialogue.
--   speaker_name: Name or alias of who answers; null where several do.
--   role: Role of who answers: user, system, agent ...
--   text: What the answer says, verbatim.
--   reply_to_speaker_id: Who said what is answered.
--   reply_to_speaker_name: Name or alias of who said it.
--   reply_to_role: Role of who said it.
--   reply_to_text: What it says, verbatim.
select
    publications.corpus_id,
    publications.release,
    publications.split,
    publications.standard_split,
    publications.subset,
    publications.record_id,
    publications.is_default,
    publications.is_first_in_split,
    publications.dialogue_id,
    turns.turn_index,
    turns.reply_to,
    turns.turn_index - turns.reply_to as distance,
    dialogues.language,
    turns.speaker_id,
    speakers.name as speaker_name,
    turns.role,
    turns.text,
    answered.speaker_id as reply_to_speaker_id,
    answered_speakers.name as reply_to_speaker_name,
    answered.role as reply_to_role,
    answered.text as reply_to_text,
from bi.publications
inner join main.dialogues
    on dialogues.corpus_id = publications.corpus_id and dialogues.dialogue_id = publications.dialogue_id
inner join main.turns on turns.dialogue_id = publications.dialogue_id
inner join main.turns as answered
    on answered.dialogue_id = turns.dialogue_id and answered.turn_index = turns.reply_to
left join main.speakers on speakers.speaker_id = turns.speaker_id
left join main.speakers as answered_speakers on answered_speakers.speaker_id = answered.speaker_id
