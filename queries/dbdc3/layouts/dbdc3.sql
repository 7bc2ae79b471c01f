-- The challenge's own layout: one JSON file per dialogue, whose k-th turn is the k-th annotated system turn; of its labels the first counts.
-- reads: documents
-- tasks: breakdown_detection
with
turns as (
    select
        path,
        regexp_extract(path, '([^/]+)\.labels\.json$', 1) as native_id,
        unnest(content -> '$.turns[*]') as turn,
        generate_subscripts(content -> '$.turns[*]', 1) as place,
    from documents
),

places as (
    select
        keys.*,
        records.native_id,
        row_number() over (partition by keys.release, keys.record_id order by keys.turn_index) as place,
    from (from keys union all from other_keys) as keys
    inner join main.records on records.record_id = keys.record_id
)

select
    places.release,
    places.split,
    places.example_index,
    turn ->> '$.labels[0].breakdown' as label,
    turn ->> '$.labels[0]."prob-O"' as prob_o,
    turn ->> '$.labels[0]."prob-T"' as prob_t,
    turn ->> '$.labels[0]."prob-X"' as prob_x,
    turns.path || ', turn ' || turns.place as key,
    case
        when (turn ->> '$."turn-index"') <> places.turn_index::varchar
            then 'turn-index is not that of the annotated turn at its place; matched by place, as the script does'
    end as warning,
from turns
left join places on places.native_id = turns.native_id and places.place = turns.place
