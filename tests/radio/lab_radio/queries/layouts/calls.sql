-- A file with an act a line, in the order of the examples.
-- reads: lines
-- tasks: act
select keys.release, keys.split, keys.example_index, keys.record_id, lines.line as label
from keys
inner join lines on lines.line_index = keys.example_index
