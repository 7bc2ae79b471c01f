-- Each persona of the people who talk, by split: where the same one is in several splits, it has a row in each.
-- grain: corpus_id, release, split, standard_split, persona_id
--   corpus_id: Corpus of the persona.
--   release: Release, as its path names it; null where it has no name, as in a corpus with one release.
--   persona_id: The persona: one sentence, or one picture with its title. Lists of personas without people are left out.
--   text: What it says, verbatim.
--   speaker_count: People of the split who have it.
--   dialogue_count: Dialogues of the split with such a person.
--   split_count: Splits of the release in which people have it.
--   is_shared: True where people of another split have it, too.
with
uses as (
    select
        records.corpus_id,
        records.release,
        records.split,
        records.standard_split,
        persona_uses.persona_id,
        count(distinct persona_uses.speaker_id) as speaker_count,
        count(distinct persona_uses.dialogue_id) as dialogue_count,
    from main.persona_uses
    inner join main.records on records.record_id = persona_uses.record_id
    where persona_uses.speaker_id is not null and records.extra ->> 'repeats' is null
    group by records.corpus_id, records.release, records.split, records.standard_split, persona_uses.persona_id
)

select
    uses.corpus_id,
    uses.release,
    uses.split,
    uses.standard_split,
    uses.persona_id,
    personas.text,
    uses.speaker_count,
    uses.dialogue_count,
    count(*) over everywhere as split_count,
    count(*) over everywhere > 1 as is_shared,
from uses
inner join main.personas on personas.persona_id = uses.persona_id
window everywhere as (partition by uses.corpus_id, uses.release, uses.persona_id)
