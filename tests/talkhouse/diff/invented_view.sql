create schema toy;
create view toy.mood as
select
    examples.split, records.standard_split, examples.example_index, examples.dialogue_id, records.native_id,
    examples.release, examples.turn_index, examples.record_id, turns.text, annotations.label, annotations.value,
    list_transform(range(examples.turn_index + 1), lambda number: examples.turn_index - number) as countdown,
from main.examples
inner join main.records using (record_id)
inner join main.turns on turns.dialogue_id = examples.dialogue_id and turns.turn_index = examples.turn_index
inner join main.annotations
    on annotations.record_id = examples.record_id and annotations.turn_index = examples.turn_index
