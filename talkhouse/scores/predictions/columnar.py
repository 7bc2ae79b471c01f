"""Parquet as a relation: what its metadata says is checked before anything is unpacked, as a few bytes can be many."""

from talkhouse.schema.sql import literal, quoted
from talkhouse.scores.predictions.files import PredictionFile
from talkhouse.scores.predictions.names import check_names
from talkhouse.scores.predictions.reader import Reader, check_rows

_NUMBER = 8
"""Bytes of a number in memory; in the file, thousands of the same can take one."""


def parquet(reader: Reader, file: PredictionFile) -> tuple[list[str], str]:
    """Return the columns of a Parquet file, and its query; ValueError for a column twice."""
    path = literal(str(file.only))
    rows = reader.con.execute(f"select name, coalesce(num_children, 0) from parquet_schema({path})").fetchall()
    names = _top(rows)
    # DuckDB would read the second of two by another name.
    check_names(names)
    return names, f"select * from read_parquet({path}, hive_partitioning = false)"


def check_parquet(reader: Reader, file: PredictionFile, most: int) -> None:
    """Raise BadPredictions for more rows than there may be, SourceError for more bytes than a file may have."""
    path = literal(str(file.only))
    ((rows,),) = reader.con.execute(f"select sum(num_rows) from parquet_file_metadata({path})").fetchall()
    check_rows(int(rows or 0), most)
    ((size, values),) = reader.con.execute(
        f"select sum(total_uncompressed_size), sum(num_values) from parquet_metadata({path})"
    ).fetchall()
    size = max(int(size or 0), int(values or 0) * _NUMBER)
    reader.limits.check("file", size, file.path, f"{size:,}, as its metadata says")


def check_texts(reader: Reader, file: PredictionFile, table: str, names: list[str]) -> None:
    """Raise SourceError where texts that the file has once make too many bytes, since rows repeat them."""
    types = dict(reader.con.execute(f"select column_name, column_type from (describe {table})").fetchall())
    lengths = {"VARCHAR": "strlen", "BLOB": "octet_length"}
    texts = [(name, lengths[types[name]]) for name in names if types[name] in lengths]
    if texts:
        sizes = " + ".join(f"coalesce(sum({length}({quoted(name)})), 0)" for name, length in texts)
        ((size,),) = reader.con.execute(f"select {sizes} from {table}").fetchall()
        reader.limits.check("file", int(size), file.path, f"{int(size):,}, as its rows repeat texts")


def _top(rows: list[tuple[str, int]]) -> list[str]:
    """Return the names of the columns of a schema, which lists each with those in it behind it."""
    names, place = [], 1
    while place < len(rows):
        names.append(rows[place][0])
        left = 1
        while left > 0 and place < len(rows):
            left += rows[place][1] - 1
            place += 1
    return names
