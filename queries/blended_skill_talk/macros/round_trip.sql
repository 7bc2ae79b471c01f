-- A text as it comes back from ParlAI's text files: written with escapes for tab, line end and pipe, then read, so that literal \t, \n and __PIPE__ become these too.
(published) as
case
    when contains(published, '\') or contains(published, '__PIPE') then
        replace(
            replace(
                replace(
                    replace(
                        replace(replace(published, chr(9), '\t'), chr(10), '\n'),
                        '|',
                        '__PIPE__'
                    ),
                    '\t',
                    chr(9)
                ),
                '\n',
                chr(10)
            ),
            '__PIPE__',
            '|'
        )
    -- Nothing else changes: what is escaped alone comes back as it was.
    else published
end
