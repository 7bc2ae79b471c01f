select path, min(base) from files_of_dialogues
where base in (select base from files_of_dialogues where path in (select unnest($gone::varchar[])))
    and path not in (select unnest($gone::varchar[]))
group by path
