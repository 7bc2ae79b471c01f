-- Runs of characters that are not white space (spaces, tabs, line ends); most texts have single spaces only, and to replace others or to trim takes four times as long.
(words) as
coalesce(
    case
        when words = '' then 0
        when contains(words, '  ') or contains(words, chr(9)) or contains(words, chr(10)) or contains(words, chr(12))
            or contains(words, chr(13))
            then len(string_split(nullif(trim(regexp_replace(words, '\s{2,}|[\t\n\f\r]', ' ', 'g'), ' '), ''), ' '))
        else len(string_split(words, ' ')) - starts_with(words, ' ')::integer - ends_with(words, ' ')::integer
    end,
    0
)
