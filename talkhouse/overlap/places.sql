-- Places, and the owners that stand in them. Numbers follow the order of names by bytes.

-- A number of a unit has the order of (owner, turn_index), from which both are read.
create macro unit_no_of(owner_no, turn_index) as owner_no * 4294967296 + turn_index::bigint + 2147483648;

create macro owner_of(unit_no) as unit_no >> 32;

create macro turn_index_of(unit_no) as ((unit_no & 4294967295) - 2147483648)::integer;

-- The lowest of two units that is of another owner.
create macro of_another(lowest, owner_no) as if(owner_of(lowest[1]) = owner_no, lowest[2], lowest[1]);

create table published as
select
    record_id,
    dialogue_id,
    corpus_id,
    release,
    split,
    standard_split,
    concat_ws('/', corpus_id, release, coalesce(split, subset)) as place,
from ${warehouse}.main.records
where split is not null or subset is not null;

create table standing as
select distinct 'dialogue' as thing, dialogue_id as owner, place
from published
where split is not null and dialogue_id is not null
union all
select distinct 'candidate', candidates.text_id, place
from ${warehouse}.main.candidates inner join published on published.record_id = candidates.record_id
where candidates.text_id is not null
union all
select distinct 'persona', persona_uses.persona_id, place
from ${warehouse}.main.persona_uses inner join published on published.record_id = persona_uses.record_id
where persona_uses.persona_id is not null;

create table places as
select
    row_number() over (order by place)::integer as place_no,
    place,
    min(corpus_id) as corpus_id,
    min(release) as release,
    min(split) as split,
    min(standard_split) as standard_split,
from published
where place in (select standing.place from standing)
group by place;

create table owners as
select row_number() over (order by thing, owner) as owner_no, thing, owner
from (select distinct thing, owner from standing);

create table owner_places as
select owners.owner_no, places.place_no
from standing
inner join owners on owners.thing = standing.thing and owners.owner = standing.owner
inner join places on places.place = standing.place;
