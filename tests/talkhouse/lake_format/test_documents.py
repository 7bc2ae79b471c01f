"""The statements that make tables and views, and the file with all of them."""

from talkhouse.lake_format.documents import script, statements
from talkhouse.lake_format.lake_manifest import LakeColumn, LakeManifest, LakeTable
from talkhouse.translation.translated import TranslatedViews, View, ViewColumn

ODD = "It's;\na \\ ;"
COLUMNS = [LakeColumn("x", "INTEGER", False, ODD), LakeColumn("list", "VARCHAR[][]", True, "")]
TABLE = LakeTable("main", "turns", ODD, ["x"], "snapshot-1/main/turns", 0, COLUMNS, {}, [])
MANIFEST = LakeManifest(1, "snapshot-1", "", "", "", [], [], [TABLE])
VIEW = View(
    "bi", "moods_day 1", ODD, ["x"], "SELECT\n  x\nFROM main.turns", [ViewColumn("x", "INTEGER", "int", "A.")], []
)
MADE = statements(MANIFEST, TranslatedViews("spark", [VIEW], []), "s3://bucket/it's")


def test_databases_come_first_then_tables_then_views() -> None:
    kinds = [("database", "bi"), ("database", "main"), *[("table", "main.turns")] * 3, ("view", "bi.moods_day 1")]
    assert [(statement.kind, statement.name) for statement in MADE] == kinds


def test_tables_and_views_have_columns_comments_and_their_folder() -> None:
    sql = MADE[3].sql
    assert sql.startswith("CREATE TABLE `main`.`turns` (\n    `x` int COMMENT 'It\\'s;\\na \\\\ ;',\n")
    assert "    `list` array<array<string>>,\n" in sql
    assert "PARTITIONED BY (corpus)\nLOCATION 's3://bucket/it\\'s/snapshot-1/main/turns' COMMENT 'It" in sql
    assert MADE[-1].sql.startswith("CREATE OR REPLACE VIEW `bi`.`moods_day 1` (\n    `x` COMMENT 'A.'\n) COMMENT 'It")


def test_the_file_can_be_cut_at_the_semicolons_that_end_lines() -> None:
    assert script(MADE).split(";\n\n")[:-1] == [statement.sql for statement in MADE]
    ends = [(statement.sql + ";").split("\n")[-1] for statement in MADE]
    assert [line for line in script(MADE).split("\n") if line.endswith(";")] == ends
