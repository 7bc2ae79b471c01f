-- Seconds from one turn to the next: from said_at to said_at or, in speech, from the end of the one to the start of the other, so that talk at the same time is less than 0; null where the times are not published.
(before_said_at, before_end_ms, after_said_at, after_start_ms) as
coalesce(date_diff('millisecond', before_said_at, after_said_at), after_start_ms - before_end_ms) / 1000
