-- Each annotator of the chat dialogue corpus, with what annotator-attribute.tsv says of them.
-- grain: record_id, annotator_id
--   release: chat_dialogue_corpus.
--   annotator_id: The publisher's id, as in main.annotations of this release alone; 01_A need not be the speaker 01_01.
--   attributes: What the table says, by its own names: sex, age, occupation, and what it has of init100.
--   record_id: The record that the table is.
with
listed as (
    select
        release,
        record_id,
        unnest(map_entries((extra -> 'people')::map(varchar, json))) as person,
    from main.records
    where corpus_id = 'dbdc3' and subset = 'annotator-attribute'
)

select
    release,
    person.key as annotator_id,
    person.value as attributes,
    record_id,
from listed
