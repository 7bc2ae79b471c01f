-- Each person with a persona, by split, with how many personas (sentences, or pictures with their titles) describe him or her.
-- grain: corpus_id, release, is_default, split, standard_split, speaker_id
--   corpus_id: Corpus of the person.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True for the default publications of dialogues: filter by it to count a person once whom several of the publisher's releases have.
--   speaker_name: Name or alias of the person; null where none is published.
--   persona_count: Different personas of the person in the split, from all lists that its records have.
--   dialogue_count: Dialogues of the split in which the person has one.
select
    corpus_id,
    release,
    is_default,
    split,
    standard_split,
    speaker_id,
    min(speaker_name) as speaker_name,
    count(distinct first_persona_id) as persona_count,
    count(distinct dialogue_id) as dialogue_count,
from bi.persona_uses
where speaker_id is not null
group by corpus_id, release, is_default, split, standard_split, speaker_id
