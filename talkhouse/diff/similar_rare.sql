create or replace temp table "?rare ${name}" as
select corpus, id, said
from "?turns ${name}"
inner join "?frequent" using (corpus, said)
qualify row_number() over (partition by id order by times, said) <= size // 2 + 1
