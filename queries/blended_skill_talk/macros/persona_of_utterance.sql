-- The persona that ParlAI's persona topicifier gives an utterance: of the list, the last of those with the highest overlap score.
(utterance) as
(
    with
    blocks as (
        select
            records.record_index,
            array_to_string(
                list(
                    case when persona_uses.extra is null then 'your persona: ' else '' end || personas.text
                    order by persona_uses.position
                ),
                chr(10)
            )
            || case when records.extra ->> 'lacks_final_newline' is null then chr(10) else '' end as block,
        from main.records
        inner join main.persona_uses on persona_uses.record_id = records.record_id
        inner join main.personas on personas.persona_id = persona_uses.persona_id
        where records.corpus_id = 'blended_skill_talk'
            and records.subset = 'persona_list'
            and records.extra ->> 'repeats' is null
        group by records.record_index, records.extra
    )

    select
        max_by(
            block,
            blended_skill_talk.word_overlap(blended_skill_talk.strip(utterance), block) * 4294967296 + record_index
        )
    from blocks
)
