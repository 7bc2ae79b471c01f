-- A text in Python's lower case: DuckDB's lower() knows one small sigma only, and no dot above that a capital I may lose.
(said) as
lower(metrics.final_sigmas(replace(said, chr(304), 'i' || chr(775))))
