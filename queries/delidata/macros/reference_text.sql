-- A turn's text as the reference reader gives it: the published cell, its quotes kept and leading blanks taken off.
(decoded, extra) as
ltrim(
    coalesce(
        extra -> 'cells' ->> 'original_text',
        case
            when contains(decoded, '''') then '''' || replace(decoded, '''', '''''') || ''''
            else decoded
        end
    ),
    ' '
)
