"""Names as Spark writes them, and the types of columns."""

_NAMES = {
    "VARCHAR": "string",
    "JSON": "string",
    "BOOLEAN": "boolean",
    "INTEGER": "int",
    "BIGINT": "bigint",
    "DOUBLE": "double",
    "DATE": "date",
    "TIMESTAMP": "timestamp_ntz",
    "BLOB": "binary",
}


def spark_type(name: str) -> str:
    """Return Spark's name of a type of DuckDB's, ``VARCHAR[]`` for example; KeyError for one that no column has."""
    return f"array<{spark_type(name.removesuffix('[]'))}>" if name.endswith("[]") else _NAMES[name]


def check_type(name: str) -> None:
    """Raise ValueError for a type that no column has."""
    try:
        spark_type(name)
    except (KeyError, RecursionError):
        raise ValueError(f"no column has the type {name[:100]!r}") from None


def spark_name(*parts: str) -> str:
    """Write a name, with its schema in front, in backticks."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)
