"""The types of columns as Spark names them."""

_NAMES = {
    "VARCHAR": "string",
    "JSON": "string",
    "BOOLEAN": "boolean",
    "INTEGER": "int",
    "BIGINT": "bigint",
    "DOUBLE": "double",
    "TIMESTAMP": "timestamp_ntz",
    "BLOB": "binary",
}


def spark_type(name: str) -> str:
    """Return Spark's name of a type of DuckDB's, ``VARCHAR[]`` for example; KeyError for one that no column has."""
    return f"array<{spark_type(name.removesuffix('[]'))}>" if name.endswith("[]") else _NAMES[name]
