-- A text with a mark of exclamation.
(said) as said || '!'
