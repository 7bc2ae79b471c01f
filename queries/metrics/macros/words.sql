-- The words of a normalised text; none of an empty one.
(normalised_text) as
list_filter(string_split(normalised_text, ' '), lambda word: word <> '')
