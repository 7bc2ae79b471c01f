-- How many candidates have the score of the one at this 0-based position, itself included; null for a missing prediction.
(scores, gold_position) as
len(list_filter(scores, lambda score: score = scores[gold_position + 1]))
