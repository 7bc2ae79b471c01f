-- MANtIS: each utterance with who said it where, its votes, the post and comment that it was, and how many links it has.
-- grain: dialogue_id, turn_index
-- identifying: user_id = person; user_name = name; post_id = link; comment_id = link
--   corpus_id: mantis.
--   release: Null: the corpus was published once, and its publisher's release has no name.
--   split: Split, by the publisher's own name.
--   turn_index: 0-based position in the dialogue.
--   site: Site of Stack Exchange that the dialogue is from.
--   title: Title of the question.
--   role: user (who asks) or agent (who answers, and anybody else), as published.
--   user_id: The site's number of the person, without the published .0; null where there is none.
--   user_name: Name of the person, as first seen on the site; null where there is none.
--   votes: Votes that the post or comment has; null where they are not a number.
--   is_answer: Whether the post is the accepted answer, as published: the publisher's files seem to say so of none.
--   post_id: The site's number of the post, from the utterance's id.
--   comment_id: The site's number of the comment, from the utterance's id; null where the utterance is a post.
--   waiting_hours: Hours from the utterance before to this one; null for the first.
--   link_count: Web addresses in the utterance.
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
)

select
    dialogues.corpus_id,
    places.release,
    places.split,
    places.standard_split,
    turns.dialogue_id,
    turns.turn_index,
    dialogues.domain as site,
    dialogues.title,
    turns.role,
    case
        when not speakers.is_anonymous then substring(speakers.speaker_id, length('mantis:' || dialogues.domain || ':') + 1)
    end as user_id,
    speakers.name as user_name,
    try_cast(turns.extra ->> 'votes' as integer) as votes,
    try_cast(turns.extra ->> 'is_answer' as boolean) as is_answer,
    -- 11, 11-101.0 or 11_101.
    try_cast(regexp_extract(turns.native_id, '^(\d+)(?:[-_].*)?$', 1) as bigint) as post_id,
    try_cast(regexp_extract(turns.native_id, '^\d+[-_](\d+)(?:\.0)?$', 1) as bigint) as comment_id,
    turns.said_at,
    date_diff('millisecond', previous.said_at, turns.said_at) / 3600000 as waiting_hours,
    len(mantis.links(turns.text)) as link_count,
    turns.text,
from main.turns
inner join main.dialogues on dialogues.dialogue_id = turns.dialogue_id
inner join places on places.dialogue_id = turns.dialogue_id
left join main.turns as previous
    on previous.dialogue_id = turns.dialogue_id and previous.turn_index = turns.turn_index - 1
left join main.speakers on speakers.speaker_id = turns.speaker_id
where dialogues.corpus_id = 'mantis'
