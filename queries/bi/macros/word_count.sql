-- Runs of characters that are not white space (spaces, tabs, line ends); twice as fast as extracting the words one by one.
(words) as
coalesce(
    len(string_split(nullif(trim(regexp_replace(words, '\s{2,}|[\t\n\f\r]', ' ', 'g'), ' '), ''), ' ')),
    0
)
