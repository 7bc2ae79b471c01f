-- MANtIS: which other sites the agents of a site point at, and how often.
-- grain: release, split, site, linked_site
-- terms: none
--   corpus_id: mantis.
--   release: Null: the corpus was published once, and its publisher's release has no name.
--   split: Split, by the publisher's own name.
--   site: Site of Stack Exchange that the dialogues are from.
--   linked_site: Host of the web address, without www.; null: addresses that name no host, or the site has no links at all.
--   agent_turn_count: Utterances of agents on the site; the same for each linked site. For other groups, count those of bi.mantis_utterances, and of these those with a link_count above 0.
--   grounded_turn_count: Of these, utterances with any web address.
--   grounded_share: grounded_turn_count by agent_turn_count, 0 to 1.
--   link_count: Web addresses of the linked site.
--   turn_count: Utterances with a web address of the linked site.
--   rank: 1 for the linked site with the most addresses; equals share a rank.
with
places as (
    select
        dialogue_id,
        min(release) as release,
        min(split) as split,
        min(standard_split) as standard_split,
    from main.records
    where corpus_id = 'mantis' and subset in ('merged', 'intents', 'site')
    group by dialogue_id
),

talks as (
    select
        dialogues.dialogue_id,
        places.release,
        places.split,
        places.standard_split,
        dialogues.domain as site,
    from main.dialogues
    inner join places on places.dialogue_id = dialogues.dialogue_id
    where dialogues.corpus_id = 'mantis'
),

agents as (
    select
        talks.release,
        talks.split,
        talks.standard_split,
        talks.site,
        count(*) as agent_turn_count,
    from talks
    inner join main.turns on turns.dialogue_id = talks.dialogue_id
    where turns.role = 'agent'
    group by talks.release, talks.split, talks.standard_split, talks.site
),

links as (
    select
        talks.release,
        talks.split,
        talks.site,
        hyperlinks.site as linked_site,
        hyperlinks.dialogue_id,
        hyperlinks.turn_index,
    from talks
    inner join mantis.hyperlinks on hyperlinks.dialogue_id = talks.dialogue_id
),

grounded as (
    select
        release,
        split,
        site,
        count(distinct (dialogue_id, turn_index)) as grounded_turn_count,
    from links
    group by release, split, site
),

linked as (
    select
        release,
        split,
        site,
        linked_site,
        count(*) as link_count,
        count(distinct (dialogue_id, turn_index)) as turn_count,
    from links
    group by release, split, site, linked_site
)

select
    'mantis' as corpus_id,
    agents.release,
    agents.split,
    agents.standard_split,
    agents.site,
    linked.linked_site,
    agents.agent_turn_count,
    coalesce(grounded.grounded_turn_count, 0) as grounded_turn_count,
    coalesce(grounded.grounded_turn_count, 0) / agents.agent_turn_count as grounded_share,
    coalesce(linked.link_count, 0) as link_count,
    coalesce(linked.turn_count, 0) as turn_count,
    rank() over (partition by agents.release, agents.split, agents.site order by linked.link_count desc nulls last) as rank,
from agents
left join grounded
    on grounded.release is not distinct from agents.release
    and grounded.split is not distinct from agents.split
    and grounded.site is not distinct from agents.site
left join linked
    on linked.release is not distinct from agents.release
    and linked.split is not distinct from agents.split
    and linked.site is not distinct from agents.site
