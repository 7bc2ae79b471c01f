"""Lakes for tests of Spark: of the samples, and of the samples with odd texts in them."""

import shutil
from pathlib import Path

import duckdb

from talkhouse.ingest.progress import Silent
from talkhouse.lake.write_lake import write_lake
from talkhouse.schema.sql import literal
from talkhouse.schema.tables import metadata, qualified
from talkhouse.spark.check import Checked

ODD = (
    "a\0b",
    "'\"\\ \\n \\u0041 \\' ;\n-- ${x} {y} `z`",
    "line\nline\r\n\t\x0b\x0c\x1c\x85\u2028\u2029",
    "\u00a0\u2003\u3000 \ufeff\u200b",
    "İstanbul ΟΔΥΣΣΕΥΣ ẞß \u017f\u212a \u0131",
    "e\u0301 \U0001f9d1\u200d\U0001f680 \U00010400 \ue000\ufffd",
    "null NaN [] {} 1e400 true $1 %s",
    "日本語です。 العربية हिन्दी",
)
"""Texts that engines read, cut, fold or escape in ways of their own."""


def lake_of(warehouse: Path, folder: Path) -> Path:
    write_lake(folder, [warehouse], Silent())
    return folder


def with_odd_texts(sample: Path, path: Path) -> Path:
    """Copy the samples, and put odd texts before, into or behind the texts that people have written."""
    shutil.copyfile(sample, path)
    odd = "[" + ", ".join(literal(text) for text in ODD) + "]"
    with duckdb.connect(path) as con:
        for table, column in (("turns", "text"), ("texts", "text")):
            key = ", ".join(metadata.tables[table].info["grain"])
            chosen = f"{odd}[(1 + hash({key}) % {len(ODD)})::bigint]"
            half = f"length({column}) // 2"
            con.execute(
                f"update {qualified(metadata.tables[table])} set {column} = case hash({key}, 1) % 4 "
                f"when 0 then {chosen} || {column} when 1 then {column} || {chosen} "
                f"when 2 then {column}[:{half}] || {chosen} || {column}[{half} + 1:] else {column} end "
                f"where {column} is not null"
            )
    return path


def differences(found: tuple[Checked, ...]) -> list[str]:
    return [compared.difference for compared in found if compared.difference]
