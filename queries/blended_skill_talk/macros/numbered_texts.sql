-- Candidate texts as they can be told apart: each without blanks at its ends, as ParlAI may write it, and with how many like it come before.
(candidates) as
list_transform(
    list_transform(candidates, lambda one: trim(one)),
    lambda one, place: one || chr(9)
        || len(list_filter(list_transform(candidates[:place], lambda other: trim(other)), lambda other: other = one))
)
