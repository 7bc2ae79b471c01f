create table if not exists format as select ${format}::integer as version;
create table if not exists last_note as select 0::integer as note_id;
create table if not exists notes (
    note_id integer primary key,
    dialogue_id varchar not null,
    turn_index integer,
    text_sha256 varchar not null,
    label varchar,
    note varchar,
    author varchar not null,
    source varchar not null,
    written_at timestamp not null
);
comment on table format is 'Which Talkhouse can read this file.';
comment on column format.version is 'Number of the format.';
comment on table last_note is 'The number of the last note that was written: none is used again.';
comment on column last_note.note_id is 'The number.';
comment on table notes is 'Labels and words of users on turns and dialogues.';
comment on column notes.note_id is 'Number of the note.';
comment on column notes.dialogue_id is 'The dialogue, as main.dialogues has it.';
comment on column notes.turn_index is 'The turn, as main.turns has it; null: the whole dialogue.';
comment on column notes.text_sha256 is 'SHA-256 of the text that the note was written on, as UTF-8; of a dialogue, '
    'over the hexadecimal SHA-256 of each turn in their order, each followed by a line end.';
comment on column notes.label is 'Label; null: there are only words.';
comment on column notes.note is 'Words; null: there is only a label.';
comment on column notes.author is 'Who wrote it.';
comment on column notes.source is 'Where it came from: page, command, label studio, argilla or table.';
comment on column notes.written_at is 'When it was written here, UTC.';
