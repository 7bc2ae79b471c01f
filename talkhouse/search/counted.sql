-- The first numbers that are free for documents and words, and what an index has of both.
select
    (select coalesce(max(document) + 1, 0) from ${index}.main.documents),
    (select coalesce(max(word_no) + 1, 0) from ${index}.main.words),
    (select coalesce(any_value(texts), 0) from ${index}.main.run),
    (select coalesce(any_value(words), 0) from ${index}.main.run)
