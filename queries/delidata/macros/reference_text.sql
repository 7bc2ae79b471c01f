-- A turn's text as the reference reader returns it: the published cell, with its quotes and without leading spaces.
(decoded, extra) as
ltrim(
    coalesce(
        extra ->> '$.cells.original_text',
        case
            when contains(decoded, '''') then '''' || replace(decoded, '''', '''''') || ''''
            else decoded
        end
    ),
    ' '
)
