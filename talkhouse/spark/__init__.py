"""A lake on Spark: its tables and views in a session, and their rows compared with DuckDB's."""
