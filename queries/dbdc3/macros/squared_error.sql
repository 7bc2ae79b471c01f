-- The mean squared error between two distributions.
(gold, predicted) as
list_sum(list_transform(list_zip(gold, predicted), lambda pair: (pair[1] - pair[2]) * (pair[1] - pair[2]))) / len(gold)
