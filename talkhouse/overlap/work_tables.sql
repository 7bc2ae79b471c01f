create table rows (
    unit varchar,
    place_no integer,
    unit_no bigint,
    tokens bigint,
    words bigint,
    other_unit varchar,
    other_place_no integer,
    other_unit_no bigint,
    kind varchar,
    shared bigint,
    total bigint,
    matches bigint,
    is_template boolean
);

create table pairs_of_units (
    unit varchar,
    place_no integer,
    unit_no bigint,
    other_place_no integer,
    other_unit_no bigint,
    kind varchar,
    shared bigint,
    total bigint
);

create table counts (
    unit varchar,
    place_no integer,
    units bigint,
    owners bigint,
    texts bigint,
    forms bigint,
    short bigint
);
