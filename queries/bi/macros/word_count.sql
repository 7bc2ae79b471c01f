-- Runs of characters that are no white space (blanks, tabs, line ends); twice as fast as taking the words out one by one.
(words) as
coalesce(
    len(string_split(nullif(trim(regexp_replace(words, '\s{2,}|[\t\n\f\r]', ' ', 'g'), ' '), ''), ' ')),
    0
)
