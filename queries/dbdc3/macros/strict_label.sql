-- The challenge's hard label of a distribution: O before T before X on a tie; a winner under the threshold is O.
(prob_o, prob_t, prob_x, threshold) as
case
    when prob_o >= prob_t and prob_o >= prob_x and prob_o >= threshold then 'O'
    when prob_t >= prob_o and prob_t >= prob_x and prob_t >= threshold then 'T'
    when prob_x >= prob_t and prob_x >= prob_o and prob_x >= threshold then 'X'
    else 'O'
end
