-- A row is a talk.
-- grain: split, example_index
-- label: mood
-- scheme: toy.mood
--   mood: How it sounds.
select
    examples.split,
    null as standard_split,
    examples.example_index,
    examples.dialogue_id,
    null as native_id,
    examples.record_id,
    toy.shout('glad') as mood
from main.examples
