-- A text without white space at its ends, as Python's str.strip returns it.
-- trim() with so many characters does the same, and takes four times as long.
(said) as
regexp_replace(
    said,
    '^[' || blended_skill_talk.blanks() || ']+|[' || blended_skill_talk.blanks() || ']+$',
    '',
    'g'
)
