select scheme, kind, why_not_compared, unit_count, label_count
from bi.schemes where why_not_compared is not null order by scheme
