-- Runs of characters that are not white space: spaces, tabs, line ends. To split at one character and leave out what is empty takes a third of the time of a regular expression.
(words) as
coalesce(
    len(
        list_filter(
            string_split(
                replace(
                    replace(replace(replace(words, chr(9), ' '), chr(10), ' '), chr(12), ' '),
                    chr(13),
                    ' '
                ),
                ' '
            ),
            lambda word: word <> ''
        )
    ),
    0
)
