select
    scheme,
    turn_index is null as is_of_dialogue,
    max(annotator_index) = 0 and max(item_index) = 0 and count(label) in (0, count(*))
        and (count(label) > 0 or count(value) = count(*)) as may_be_single,
    count(label) > 0 as has_labels,
    count(annotator_id) + count(persona_id) + count(start_index) + count(extra) > 0
        or (count(label) > 0 and count(value) > 0) as has_more,
    count(start_index) > 0 as has_spans,
    count(extra) > 0 as has_extra
from ${annotations}
group by all
