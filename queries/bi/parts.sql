-- Each part of each turn of each publication of a dialogue, a tool call with its response; turns of plain text have none.
-- grain: record_id, turn_index, part_index
-- scope: dialogue
--   corpus_id: Corpus of the dialogue.
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True in the default publication of the dialogue: filter by it to count a part once that several of the publisher's releases have.
--   record_id: The record that publishes the dialogue, as in bi.record_dialogues.
--   is_first_in_split: True in one publication of each dialogue within publisher's release and split: filter by it to count a part once that several subsets of a split have.
--   turn_index: The turn.
--   part_index: 0-based position among the parts of the turn, in the order of its members.
--   language: ISO 639-1 code of the dialogue.
--   role: Role of who said the turn: user, assistant, tool ...
--   field: The member of the published message that it stands in: content, tool_calls ...
--   kind: text, reasoning, tool_call, tool_call_response, uri, blob, file (OpenTelemetry's names) or refusal.
--   name: Name of the tool or file.
--   call_id: The publisher's id of the tool call; its response has the same.
--   arguments: Arguments of a tool call as JSON, where they are; else text has them.
--   uri: Address of what it is, as published.
--   mime_type: Media type of what it is, as published.
--   start_index: Where the part begins in the turn's text: 0-based, in code points; null: it is no part of that text.
--   end_index: Where it ends there, exclusive.
--   text: What the part says, verbatim, be it in the turn's text or beside it.
--   response_turn_index: Of a tool call: the turn with its response; null: it has none, or no id.
--   response_part_index: The response's part_index in that turn.
--   response: What the response says, verbatim.
with
said as (
    select
        parts.dialogue_id,
        parts.turn_index,
        parts.part_index,
        turns.role,
        parts.field,
        parts.kind,
        parts.name,
        parts.call_id,
        parts.arguments::varchar as arguments,
        parts.uri,
        parts.mime_type,
        parts.start_index,
        parts.end_index,
        coalesce(
            parts.text,
            case when parts.start_index is not null and parts.end_index is not null
                then substring(turns.text, parts.start_index + 1, greatest(parts.end_index - parts.start_index, 0))
            end
        ) as words,
    from main.parts
    inner join main.turns on turns.dialogue_id = parts.dialogue_id and turns.turn_index = parts.turn_index
),

numbered as (
    -- An id may be used again in a dialogue: the second call with it has the second response.
    select
        *,
        row_number() over (
            partition by dialogue_id, call_id, kind
            order by turn_index, part_index
        ) as call_number,
    from said
)

select
    publications.corpus_id,
    publications.release,
    publications.split,
    publications.standard_split,
    publications.subset,
    publications.record_id,
    publications.is_default,
    publications.is_first_in_split,
    publications.dialogue_id,
    calls.turn_index,
    calls.part_index,
    dialogues.language,
    calls.role,
    calls.field,
    calls.kind,
    calls.name,
    calls.call_id,
    calls.arguments,
    calls.uri,
    calls.mime_type,
    calls.start_index,
    calls.end_index,
    calls.words as text,
    responses.turn_index as response_turn_index,
    responses.part_index as response_part_index,
    responses.words as response,
from bi.publications
inner join main.dialogues
    on dialogues.corpus_id = publications.corpus_id and dialogues.dialogue_id = publications.dialogue_id
inner join numbered as calls on calls.dialogue_id = publications.dialogue_id
left join numbered as responses
    on calls.kind = 'tool_call'
    and responses.kind = 'tool_call_response'
    and responses.dialogue_id = calls.dialogue_id
    and responses.call_id = calls.call_id
    and responses.call_number = calls.call_number
