-- The lines that the challenge's script prints, in their order.
with
labelled as (
    select
        name,
        case
            when name like '% Num' then count::varchar
            else
                case when isnan(value) then ' nan' else printf('%.6f', value) end
                || case when count is not null then ' (' || count || '/' || "of" || ')' else '' end
        end as shown,
    from results
)

select unnest([
    '######### Data Stats #########',
    'File Num : ' || chr(9) || chr(9) || max(shown) filter (where name = 'File Num'),
    'System Utterance Num : ' || chr(9) || max(shown) filter (where name = 'System Utterance Num'),
    'O Label Num : ' || chr(9) || chr(9) || max(shown) filter (where name = 'O Label Num'),
    'T Label Num : ' || chr(9) || chr(9) || max(shown) filter (where name = 'T Label Num'),
    'X Label Num : ' || chr(9) || chr(9) || max(shown) filter (where name = 'X Label Num'),
    '',
    '######### Results #########',
    'Accuracy : ' || chr(9) || chr(9) || max(shown) filter (where name = 'Accuracy'),
    '',
    'Precision (X) : ' || chr(9) || max(shown) filter (where name = 'Precision (X)'),
    'Recall    (X) : ' || chr(9) || max(shown) filter (where name = 'Recall (X)'),
    'F-measure (X) : ' || chr(9) || max(shown) filter (where name = 'F-measure (X)'),
    '',
    'Precision (T+X) : ' || chr(9) || max(shown) filter (where name = 'Precision (T+X)'),
    'Recall    (T+X) : ' || chr(9) || max(shown) filter (where name = 'Recall (T+X)'),
    'F-measure (T+X) : ' || chr(9) || max(shown) filter (where name = 'F-measure (T+X)'),
    '',
    'JS divergence (O,T,X) : ' || chr(9) || max(shown) filter (where name = 'JS divergence (O,T,X)'),
    'JS divergence (O,T+X) : ' || chr(9) || max(shown) filter (where name = 'JS divergence (O,T+X)'),
    'JS divergence (O+T,X) : ' || chr(9) || max(shown) filter (where name = 'JS divergence (O+T,X)'),
    '',
    'Mean squared error (O,T,X) : ' || chr(9) || max(shown) filter (where name = 'Mean squared error (O,T,X)'),
    'Mean squared error (O,T+X) : ' || chr(9) || max(shown) filter (where name = 'Mean squared error (O,T+X)'),
    'Mean squared error (O+T,X) : ' || chr(9) || max(shown) filter (where name = 'Mean squared error (O+T,X)'),
    '###########################'
]) as line,
from labelled
