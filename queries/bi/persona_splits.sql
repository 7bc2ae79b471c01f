-- Each persona of the people who talk, by split: where the same one is in several splits, it has a row in each.
-- grain: corpus_id, release, is_default, split, standard_split, persona_id
--   corpus_id: Corpus of the persona.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True for the default publications of dialogues: filter by it to count a persona once that several of the publisher's releases have.
--   persona_id: The persona: one sentence, or one picture with its title. Lists of personas of nobody in particular are left out.
--   text: What it says, verbatim.
--   speaker_count: People of the split who have it.
--   dialogue_count: Dialogues of the split with such a person.
--   split_count: Splits of the publisher's release in which people have it.
--   is_shared: True where people of another split have it, too.
with
uses as (
    select
        corpus_id,
        release,
        is_default,
        split,
        standard_split,
        first_persona_id as persona_id,
        min(text) as text,
        count(distinct speaker_id) as speaker_count,
        count(distinct dialogue_id) as dialogue_count,
    from bi.persona_uses
    where speaker_id is not null
    group by corpus_id, release, is_default, split, standard_split, first_persona_id
)

select
    *,
    count(*) over (partition by corpus_id, release, is_default, persona_id) as split_count,
    count(*) over (partition by corpus_id, release, is_default, persona_id) > 1 as is_shared,
from uses
