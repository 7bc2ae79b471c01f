"""A lake on Spark: its tables and views in a session, rows compared with DuckDB's, and workers that load files."""
