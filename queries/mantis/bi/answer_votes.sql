-- MANtIS: the votes of the answers that the dialogues are about, and how many were accepted, by site.
-- grain: release, split, site
-- terms: none
--   corpus_id: mantis.
--   release: Null: the corpus was published once, and its publisher's release has no name.
--   split: Split, by the publisher's own name.
--   site: Site of Stack Exchange that the dialogues are from.
--   answer_count: Answers: posts by agents, without the comments below them.
--   voted_count: Of these, answers whose votes are a number.
--   min_votes: Fewest votes of an answer; voters may take points away.
--   lower_quartile_votes: A quarter of the answers have fewer votes than this, or as many. Quartiles can't be combined: for other groups, take them from bi.mantis_utterances, of agents' posts that are no comments.
--   median_votes: Half of the answers have fewer votes than this, or as many.
--   upper_quartile_votes: Three quarters of the answers have fewer votes than this, or as many.
--   max_votes: Most votes of an answer.
--   vote_sum: Votes of all answers together.
--   mean_votes: vote_sum by voted_count; null where no answer's votes are a number.
--   unvoted_count: Answers with 0 votes.
--   negative_count: Answers with fewer than 0 votes.
--   accepted_count: Answers that are published as accepted.
select
    corpus_id,
    release,
    split,
    standard_split,
    site,
    count(*) as answer_count,
    count(votes) as voted_count,
    min(votes) as min_votes,
    percentile_disc(0.25) within group (order by votes) as lower_quartile_votes,
    percentile_disc(0.5) within group (order by votes) as median_votes,
    percentile_disc(0.75) within group (order by votes) as upper_quartile_votes,
    max(votes) as max_votes,
    coalesce(sum(votes), 0)::bigint as vote_sum,
    avg(votes) as mean_votes,
    count(*) filter (where votes = 0) as unvoted_count,
    count(*) filter (where votes < 0) as negative_count,
    count(*) filter (where is_answer) as accepted_count,
from bi.mantis_utterances
where role = 'agent' and post_id is not null and comment_id is null
group by corpus_id, release, split, standard_split, site
