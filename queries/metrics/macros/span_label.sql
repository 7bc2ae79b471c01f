-- The label of a span that is written as START:END:LABEL.
(span) as
regexp_extract(span, '^[0-9]+:[0-9]+:((?s:.*))$', 1)
