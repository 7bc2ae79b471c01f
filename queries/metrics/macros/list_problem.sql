-- What is wrong with the number of scores for so many candidates; null where nothing is.
(scores, candidates) as
case
    when candidates is null then 'the split has no candidates, so there is nothing to rank'
    when len(scores) <> candidates then len(scores) || ' scores for ' || candidates || ' candidates'
end
