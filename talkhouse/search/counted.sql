-- The first numbers that are free for documents and words, the documents, and what the index says of itself.
select
    (select coalesce(max(document) + 1, 0) from ${index}.main.documents),
    (select coalesce(max(word_no) + 1, 0) from ${index}.main.words),
    (select count(*) from ${index}.main.documents),
    coalesce(any_value(in_order), 0),
    coalesce(any_value(texts), 0),
    coalesce(any_value(words), 0),
from ${index}.main.run
