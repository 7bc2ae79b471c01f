-- A labelled span as predictions write it: START:END:LABEL, in code points, the end exclusive; without a label it ends in the colon.
(start_index, end_index, label) as
start_index || ':' || end_index || ':' || coalesce(label, '')
