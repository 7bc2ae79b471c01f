-- The share of different ones in a list, as ParlAI has it for n-grams: next to nothing, but not 0, of an empty list; null for none.
(grams) as
case when grams is not null then greatest(len(list_distinct(grams)), 1e-12) / greatest(len(grams), 1e-5) end
