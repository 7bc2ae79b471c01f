"""The SQL of a warehouse: task views, macros, which turns are examples; one SELECT per file, path = name."""

from talkhouse.schema.sql_files import sql_of


def of_command(name: str) -> str:
    """Return the SQL that a command runs, ``queries/<name>.sql``; it reads only what every warehouse has."""
    return sql_of(__file__, name)
