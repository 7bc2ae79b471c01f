-- A text as ParlAI compares it: Python's lower case; ASCII punctuation and the words a, an, the as blanks; words joined by one blank.
(said) as
trim(
    regexp_replace(
        array_to_string(
            list_transform(
                regexp_extract_all(
                    regexp_replace(metrics.lower_case(said), '[!-/:-@\[-`{-~]', ' ', 'g'),
                    '[\p{L}\p{N}]+|[^\p{L}\p{N}]+'
                ),
                lambda run: case when run in ('a', 'an', 'the') then ' ' else run end
            ),
            ''
        ),
        metrics.blanks() || '+',
        ' ',
        'g'
    ),
    ' '
)
