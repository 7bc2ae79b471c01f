-- The predicted spans of each turn and the published ones; a span is right where its start, its end and its label are.
-- predicts: labels
-- metrics: metrics.spans
-- official: none
-- oracle: list_transform(spans, lambda span: metrics.span_text(span.start_index, span.end_index, span.label)) as labels
-- remark: $remark; each of labels is START:END:LABEL, in code points, the end exclusive; turns without spans are no examples, and a span that two annotators mark counts once
select
    predicted.release,
    predicted.split,
    predicted.example_index,
    predicted.record_id,
    predicted.dialogue_id,
    metrics.span_problem(predicted.labels) as problem,
    list_distinct(
        list_transform(gold.spans, lambda span: metrics.span_text(span.start_index, span.end_index, span.label))
    ) as gold,
    list_distinct(coalesce(predicted.labels, [])) as labels,
from predicted
inner join gold
    on gold.example_index = predicted.example_index
    and gold.split = predicted.split
    and gold.release is not distinct from predicted.release
