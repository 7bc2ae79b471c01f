select schemes.scheme, description, target, kind, scale, label, meaning
from main.schemes
left join main.labels using (scheme)
where ${where}
qualify row_number() over (partition by schemes.scheme order by label_index nulls last, label) <= ${most}
order by schemes.rowid, label_index nulls last, label
