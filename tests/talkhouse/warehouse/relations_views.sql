create schema toy; create schema "select";
create view toy.mood as select 1 as example_index, 'dev' as split, true as is_default;
create view toy.mood_dev as select * from toy.mood where split = 'dev' and is_default;
create view toy."mood_it's ""odd"" too" as select * from toy.mood where split = 'it''s "odd" too';
create view toy.mood_10 as select * from toy.mood;
create view toy.mood_10_dev as select * from toy.mood_10 where split = 'dev';
create view "select".mood as from toy.mood;
create view "select".mood_dev as select * from "select".mood where split = 'dev';
-- Somebody's own.
create view toy.mood_mine as select * from toy.mood where example_index = 1;
create view toy.mood_test as select * from toy.mood where split = 'train';
create view toy.mood_old as select * from toy.mood where split = 'old' and not is_default;
create view toy.mood_few as select example_index from toy.mood where split = 'few';
create view toy.calm_dev as select * from toy.mood where split = 'dev';
