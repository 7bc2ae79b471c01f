create or replace table places as
select row_number() over () as place_no, splits, standard_splits
from (select distinct splits, standard_splits from owner_splits)
