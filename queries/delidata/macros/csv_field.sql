-- A cell as Python's csv reader returns it, which takes a " at its start for its own: that quote and the one that closes it are gone, and doubled ones between them halved. A quote that the cell does not close stays; there, the reader would go on into the next cells.
(cell) as
case
    when regexp_extract(cell, '^("[^"]*(?:""[^"]*)*")(?:[^"]|$)', 1) = '' then cell
    else
        replace(regexp_extract(cell, '^"([^"]*(?:""[^"]*)*)"(?:[^"]|$)', 1), '""', '"')
        || substring(cell, length(regexp_extract(cell, '^("[^"]*(?:""[^"]*)*")(?:[^"]|$)', 1)) + 1)
end
