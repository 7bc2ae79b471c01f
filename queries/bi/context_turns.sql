-- Each example with each turn of its context, one row per turn: all turns before it or, of a tree, those of its path (bi.turn_paths). Where a task takes only the last turns, filter by distance.
-- grain: corpus_id, task, release, split, example_index, context_turn_index
--   release: Publisher's release, as its path names it; null where it has no name, as in a corpus that was published once.
--   is_default: True in the default publication of the dialogue: filter by it to count an example once that several of the publisher's releases have.
--   turn_index: The turn that is labelled or answered; null: the example is a whole dialogue, and all its turns are here.
--   context_turn_index: 0-based position of the turn in its dialogue.
--   distance: How many turns before the labelled or answered turn; 1 is the one right before it, of a path the one that it answers.
--   speaker_id: Who said the turn.
--   speaker_name: Name or alias of who said it.
--   speaker_kind: human, bot or system.
--   role: Role of who said it: user, system, agent ...
--   text: What was said, verbatim; may be empty.
select
    examples.corpus_id,
    examples.task,
    examples.release,
    examples.split,
    records.standard_split,
    coalesce(default_releases.release = examples.release, default_releases.release is null) as is_default,
    examples.example_index,
    examples.record_id,
    examples.dialogue_id,
    examples.turn_index,
    turns.turn_index as context_turn_index,
    case
        when paths.path is null
        then examples.turn_index - turns.turn_index
        else (len(paths.path) + 1 - array_position(paths.path, turns.turn_index))::integer
    end as distance,
    turns.speaker_id,
    speakers.name as speaker_name,
    speakers.kind as speaker_kind,
    turns.role,
    turns.kind,
    turns.text,
    turns.said_at,
from main.examples
inner join main.records on records.record_id = examples.record_id
-- The catalogue writes task_contexts: what the heads of task views say of it.
left join (select * from task_contexts) as contexts
    on contexts.corpus_id = examples.corpus_id and contexts.task = examples.task
left join bi.turn_paths as paths
    on paths.dialogue_id = examples.dialogue_id
    and paths.turn_index = examples.turn_index
    and case when contexts.context is null then paths.is_tree else contexts.context = 'replies' end
inner join main.turns
    on turns.dialogue_id = examples.dialogue_id
    and case
        when paths.path is null
        then turns.turn_index < coalesce(examples.turn_index, turns.turn_index + 1)
        else list_contains(paths.path, turns.turn_index)
    end
left join bi.default_releases on default_releases.dialogue_id = examples.dialogue_id
left join main.speakers on speakers.speaker_id = turns.speaker_id
