cos
system
(S'touch pwned'
tR.