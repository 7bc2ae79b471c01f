-- Every label that occurs is declared by the corpus.
-- severity: warn
-- remedy: Nothing, where the publisher uses the label; main.labels has it without a meaning.
select
    split_part(labels.scheme, '.', 1) as corpus_id,
    labels.scheme,
    labels.label,
    'no declaration knows the label ' || labels.label || ' of ' || labels.scheme as detail,
from main.labels
anti join meta.exceptions
    on exceptions.check_name = 'labels_are_declared' and exceptions.scope = labels.scheme
where labels.meaning is null
