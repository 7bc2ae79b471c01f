-- The challenge's lenient label: X_l where T and X together outweigh O; the divided doubles are added, as its script does.
(prob_o, prob_t, prob_x, threshold) as
case
    when prob_o >= prob_t + prob_x and prob_o >= threshold then 'O_l'
    when prob_t + prob_x >= prob_o and prob_t + prob_x >= threshold then 'X_l'
    else 'O_l'
end
