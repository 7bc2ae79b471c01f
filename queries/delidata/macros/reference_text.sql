-- A turn's text as the reference reader returns it: the published cell with its single quotes, without leading spaces, and without the double quotes that begin it.
(decoded, extra) as
delidata.csv_field(
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
)
