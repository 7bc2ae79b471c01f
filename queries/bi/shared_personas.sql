-- Each split with each other one of the corpus: how many of its personas, and of its dialogues, have a persona that people of the other one have, too.
-- grain: corpus_id, release, is_default, split, other_split
-- terms: none
--   corpus_id: Corpus of the splits.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True for the default publications of dialogues, which are compared with one another only.
--   split: Split, by the publisher's own name; each pair occurs in both directions.
--   other_split: The split that it is compared with, of the same publisher's release.
--   persona_count: Different personas of the people of the split.
--   shared_count: Of these, personas that people of the other split have, too; the same in both directions.
--   shared_share: shared_count by persona_count, 0 to 1.
--   dialogue_count: Dialogues of the split in which somebody has a persona.
--   sharing_dialogue_count: Of these, dialogues with a persona that people of the other split have, too.
--   sharing_dialogue_share: sharing_dialogue_count by dialogue_count, 0 to 1.
with
uses as (
    select distinct
        corpus_id,
        release,
        is_default,
        split,
        standard_split,
        dialogue_id,
        first_persona_id as persona_id,
    from bi.persona_uses
    where speaker_id is not null and split is not null
),

sizes as (
    select
        corpus_id,
        release,
        is_default,
        split,
        min(standard_split) as standard_split,
        count(distinct persona_id) as persona_count,
        count(distinct dialogue_id) as dialogue_count,
    from uses
    group by corpus_id, release, is_default, split
),

elsewhere as (
    select distinct corpus_id, release, is_default, split as other_split, persona_id
    from uses
),

shared as (
    select
        uses.corpus_id,
        uses.release,
        uses.is_default,
        uses.split,
        elsewhere.other_split,
        count(distinct uses.persona_id) as shared_count,
        count(distinct uses.dialogue_id) as sharing_dialogue_count,
    from uses
    inner join elsewhere
        on elsewhere.corpus_id = uses.corpus_id
        and elsewhere.release is not distinct from uses.release
        and elsewhere.is_default = uses.is_default
        and elsewhere.other_split <> uses.split
        and elsewhere.persona_id = uses.persona_id
    group by uses.corpus_id, uses.release, uses.is_default, uses.split, elsewhere.other_split
)

select
    sizes.corpus_id,
    sizes.release,
    sizes.is_default,
    sizes.split,
    sizes.standard_split,
    others.split as other_split,
    sizes.persona_count,
    coalesce(shared.shared_count, 0) as shared_count,
    coalesce(shared.shared_count, 0) / sizes.persona_count as shared_share,
    sizes.dialogue_count,
    coalesce(shared.sharing_dialogue_count, 0) as sharing_dialogue_count,
    coalesce(shared.sharing_dialogue_count, 0) / nullif(sizes.dialogue_count, 0) as sharing_dialogue_share,
from sizes
inner join sizes as others
    on others.corpus_id = sizes.corpus_id
    and others.release is not distinct from sizes.release
    and others.is_default = sizes.is_default
    and others.split <> sizes.split
left join shared
    on shared.corpus_id = sizes.corpus_id
    and shared.release is not distinct from sizes.release
    and shared.is_default = sizes.is_default
    and shared.split = sizes.split
    and shared.other_split = others.split
