select
    corpus_id, title, homepage, licence, licence_url, terms, citation, authors, year, reference, is_sample, made_from,
from ${database}.main.corpora order by corpus_id
