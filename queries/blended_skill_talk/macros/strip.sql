-- A text without blanks at its ends, as Python's str.strip gives it.
(said) as
trim(said, blended_skill_talk.blanks())
