"""The formats that commands offer, apart from what writes them: a help page need not load DuckDB."""

from enum import StrEnum


class QueryFormat(StrEnum):
    """The formats of a query's rows."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"
    PARQUET = "parquet"
    MARKDOWN = "markdown"


class ExportFormat(StrEnum):
    """The formats of an exported file."""

    PARQUET = "parquet"
    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"
    ARROW = "arrow"


CSV = frozenset({"csv", "tsv"})
"""The formats that spreadsheets open, and take some texts of for formulas."""

TEXTS = "texts"
"""The format that a page reads, offered by no command: what is shown of each value, in Parquet."""


class Tool(StrEnum):
    """The programs that dashboards or rows are exported for."""

    SUPERSET = "superset"
    HUGGINGFACE = "huggingface"
    CROISSANT = "croissant"
    CONVOKIT = "convokit"
    LABELSTUDIO = "labelstudio"
    ARGILLA = "argilla"
    CHAT = "chat"
    DBT = "dbt"


class ChatForm(StrEnum):
    """The forms of a line of ``--for chat``."""

    MESSAGES = "messages"
    PROMPT = "prompt"
    PREFERENCE = "preference"


class PersonaPlace(StrEnum):
    """The messages that can hold a persona."""

    SYSTEM = "system"
