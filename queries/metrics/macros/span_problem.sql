-- What is wrong with a list of spans: the first that is not START:END:LABEL; null where all are.
(spans) as
'a span that is not START:END:LABEL: ' || list_filter(spans, lambda span: not regexp_matches(span, '^[0-9]+:[0-9]+:'))[1]
