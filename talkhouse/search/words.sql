-- The words of an index with those of new texts, and without those that no text has any more.
select
    word,
    coalesce(before.word_no, ${first} + row_number() over (partition by before.word_no is null order by word) - 1),
    coalesce(before.texts, 0) - coalesce(lost.texts, 0) + coalesce(new.texts, 0) as number,
from (select entry.key as word, count(*) as texts from (${used}) group by word) as new
full join ${index}.main.words as before using (word)
left join lost on lost.word_no = before.word_no
where number > 0
order by word
