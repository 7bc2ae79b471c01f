-- A text without white space at its ends, as Python's str.strip returns it.
(said) as
trim(said, blended_skill_talk.blanks())
