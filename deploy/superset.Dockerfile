# Superset with DuckDB: the connection that `talkhouse export --for superset` writes reads the file itself.
FROM apache/superset:6.1.0
USER root
RUN . /app/.venv/bin/activate && uv pip install duckdb-engine "duckdb==1.5.5"
USER superset
