"""The formats that commands offer, apart from what writes them: nobody waits for DuckDB to read a help page."""

from enum import StrEnum


class Format(StrEnum):
    """The formats that a query's rows can be given in."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"
    PARQUET = "parquet"
    MARKDOWN = "markdown"


class FileFormat(StrEnum):
    """The formats of an exported file."""

    PARQUET = "parquet"
    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"
    ARROW = "arrow"
