-- Whether a text ends in a question mark, be there blanks behind it or not.
(said) as ends_with(rtrim(said, ' '), '?')
