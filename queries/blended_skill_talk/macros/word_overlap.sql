-- ParlAI's overlap score of two texts: how many words of at least 5 letters of each (between single spaces) are anywhere in the other.
(one, other) as
len(list_filter(string_split(one, ' '), lambda word: length(word) >= 5 and contains(other, word)))
    + len(list_filter(string_split(other, ' '), lambda word: length(word) >= 5 and contains(one, word)))
