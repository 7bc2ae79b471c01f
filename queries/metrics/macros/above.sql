-- How many candidates have a higher score than the one at this 0-based position; null for a missing prediction.
(scores, gold_position) as
len(list_filter(scores, lambda score: score > scores[gold_position + 1]))
