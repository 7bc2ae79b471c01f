-- Chats as JSON, one a row: those of a selection, in its order. In braces what talkhouse.packages.chat puts there.
with
chosen as (
    select *, row_number() over () as place
    from ({chosen})
),

wanted as (
    select distinct dialogue_id from chosen
),

personas as (
    select dialogue_id, speaker_id, string_agg(text, chr(10) order by persona_set, position, text) as persona
    from (
        select
            persona_uses.dialogue_id,
            persona_uses.speaker_id,
            personas.text,
            min(persona_uses.persona_set) as persona_set,
            min(persona_uses.position) as position,
        from main.persona_uses
        inner join main.personas on personas.persona_id = persona_uses.persona_id
        where {has_personas}
            and persona_uses.turn_index is null
            and persona_uses.speaker_id is not null
            and personas.text is not null
            and persona_uses.dialogue_id in (from wanted)
        group by all
    )
    group by dialogue_id, speaker_id
),

messages as (
    select
        turns.dialogue_id,
        turns.turn_index,
        {role} as chat_role,
        personas.persona,
        concat(
            '{{"role":',
            to_json({role}),
            ',"content":',
            coalesce(chat_parts.content, to_json(turns.text)::varchar),
            chat_parts.members,
            if({name} is null, '', concat(',"name":', to_json({name}))),
            '}}'
        ) as message,
    from (select *, {pseudonym} as pseudonym from main.turns where dialogue_id in (from wanted)) as turns
    left join main.speakers on speakers.speaker_id = turns.speaker_id
    left join temp.chat_parts
        on chat_parts.dialogue_id = turns.dialogue_id and chat_parts.turn_index = turns.turn_index
    left join personas on personas.dialogue_id = turns.dialogue_id and personas.speaker_id = turns.speaker_id
),

dialogues as (
    select
        dialogue_id,
        list(message order by turn_index) as messages,
        {roles} as roles,
        {personas} as personas,
    from messages
    group by dialogue_id
),

paths as (
    select
        dialogue_id,
        turn_index,
        path,
        not exists (
            from main.turns
            where turns.dialogue_id = turn_paths.dialogue_id and turns.reply_to = turn_paths.turn_index
        ) as is_last,
    from bi.turn_paths
    where is_tree and dialogue_id in (from wanted)
),

-- Of a tree, the way from the first message to the answer; else all turns before it. Turns are counted from 0.
examples as (
    select
        chosen.*,
        dialogues.messages,
        dialogues.roles,
        dialogues.personas,
        {answer} as answer,
        coalesce(paths.path, range({answer})) as before,
    from chosen
    inner join dialogues on dialogues.dialogue_id = chosen.dialogue_id
    left join paths on paths.dialogue_id = chosen.dialogue_id and {is_path}
),

chats as (
    select
        place,
        answer,
        {persona} as persona,
        array_to_string(list_transform(before, lambda turn: messages[turn + 1]), ',') as messages_before,
        messages[answer + 1] as message,
        roles[answer + 1] as role,
        roles[before[-1] + 1] as other_role,
        {chosen_texts} as chosen_texts,
        {rejected_texts} as rejected_texts,
    from examples
)

select
    if(persona is null, null, concat('{{"role":"system","content":', to_json(persona), '}}')) as system,
    nullif(messages_before, '') as before,
    message,
    {chosen_messages} as chosen,
    {rejected_messages} as rejected,
from chats
order by place, answer
