create temp table ${table} (
    relation varchar, corpus varchar, change varchar, "key" varchar, key_before varchar,
    "column" varchar, before varchar, after varchar
)
