-- Each dialogue of a split with the record that the tasks take it from: that of the complete file or of its site's, or else that of the intent file.
-- grain: split, native_id
--   native_id: Key of the dialogue in its split's object; in a site's file with the site before it.
--   record_index: 0-based position in the file's object.
select
    split,
    standard_split,
    native_id,
    subset,
    record_index,
    record_id,
    dialogue_id,
from main.records
where corpus_id = 'mantis' and subset in ('merged', 'site')
union all
select
    intents.split,
    intents.standard_split,
    intents.native_id,
    intents.subset,
    intents.record_index,
    intents.record_id,
    intents.dialogue_id,
from main.records as intents
anti join main.records as merged
    on merged.corpus_id = 'mantis'
    and merged.subset = 'merged'
    and merged.split = intents.split
    and merged.native_id = intents.native_id
where intents.corpus_id = 'mantis' and intents.subset = 'intents'
