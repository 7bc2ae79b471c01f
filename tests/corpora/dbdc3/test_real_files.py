"""DBDC3: the counts that the challenge's rules give on the publisher's own files (set TALKHOUSE_DATA)."""

from pathlib import Path

import duckdb
import pytest

from tests.data_files import data_of

pytestmark = pytest.mark.slow

# Counted with the challenge's rules on the full release; the subsets of the dev zips equal those of release dbdc3.
# files, turns, system turns, rows, labels, O/T/X at threshold 0.0, O/T/X at 0.5, lenient O/X
_CIC_115 = (115, 2409, 1235, 1150, 34500, (314, 198, 638), (765, 28, 357), (127, 1023))
_IRIS_100 = (100, 2000, 1000, 1000, 30000, (352, 166, 482), (622, 45, 333), (210, 790))
_TKTK_100 = (100, 2000, 1000, 1000, 30000, (385, 169, 446), (644, 48, 308), (254, 746))
_YI_100 = (100, 2100, 1100, 1000, 30000, (392, 445, 163), (878, 100, 22), (111, 889))
_CIC_REVISED = (115, 2409, 1235, 1150, 34500, (266, 799, 85), (629, 506, 15), (108, 1042))
_YI_REVISED = (100, 2100, 1100, 1000, 30000, (226, 700, 74), (557, 427, 16), (132, 868))
_IRIS_50 = (50, 1000, 500, 500, 15000, (196, 91, 213), (354, 18, 128), (114, 386))
_TKTK_50 = (50, 1000, 500, 500, 15000, (281, 107, 112), (391, 38, 71), (200, 300))
_DCM = (50, 1050, 550, 550, 16500, (228, 179, 143), (311, 113, 126), (201, 349))
_DIT = (50, 1050, 550, 550, 16500, (179, 84, 287), (308, 17, 225), (129, 421))
_IRS = (50, 1050, 550, 550, 16500, (212, 74, 264), (276, 36, 238), (185, 365))
COUNTS = {
    ("dbdc3", "en", "dev", "CIC_115"): _CIC_115,
    ("dbdc3", "en", "dev", "IRIS_100"): _IRIS_100,
    ("dbdc3", "en", "dev", "TKTK_100"): _TKTK_100,
    ("dbdc3", "en", "dev", "YI_100"): _YI_100,
    ("dbdc3", "en", "eval", "CIC_50"): (50, 1048, 539, 500, 15000, (99, 286, 115), (402, 69, 29), (15, 485)),
    ("dbdc3", "en", "eval", "IRIS_50"): _IRIS_50,
    ("dbdc3", "en", "eval", "TKTK_50"): _TKTK_50,
    ("dbdc3", "en", "eval", "YI_50"): (50, 1050, 550, 500, 15000, (180, 304, 16), (420, 79, 1), (34, 466)),
    ("dbdc3", "ja", "eval", "DCM"): _DCM,
    ("dbdc3", "ja", "eval", "DIT"): _DIT,
    ("dbdc3", "ja", "eval", "IRS"): _IRS,
    ("dbdc3_revised", "en", "dev", "CIC_115"): _CIC_REVISED,
    ("dbdc3_revised", "en", "dev", "IRIS_100"): _IRIS_100,
    ("dbdc3_revised", "en", "dev", "TKTK_100"): _TKTK_100,
    ("dbdc3_revised", "en", "dev", "YI_100"): _YI_REVISED,
    ("dbdc3_revised", "en", "eval", "CIC_50"): (50, 1048, 539, 500, 15000, (133, 134, 233), (313, 36, 151), (80, 420)),
    ("dbdc3_revised", "en", "eval", "IRIS_50"): _IRIS_50,
    ("dbdc3_revised", "en", "eval", "TKTK_50"): _TKTK_50,
    ("dbdc3_revised", "en", "eval", "YI_50"): (50, 1050, 550, 500, 15000, (147, 147, 206), (303, 55, 142), (95, 405)),
    ("dbdc3_revised", "ja", "eval", "DCM"): _DCM,
    ("dbdc3_revised", "ja", "eval", "DIT"): _DIT,
    ("dbdc3_revised", "ja", "eval", "IRS"): _IRS,
    ("dev_zips", "en", "dev", "CIC_json_data"): _CIC_115,
    ("dev_zips", "en", "dev", "IRIS_json_data"): _IRIS_100,
    ("dev_zips", "en", "dev", "json_data_100"): _TKTK_100,
    ("dev_zips", "en", "dev", "YI_json_data"): _YI_100,
}


def test_the_counts_of_every_subset_that_is_there(real: duckdb.DuckDBPyConnection) -> None:
    counts = """
        select release, split, subset, count(distinct record_id), count(*), count_if(role = 'system')
        from main.records inner join main.turns using (dialogue_id)
        where corpus_id = 'dbdc3' and release is not null
        group by all
    """
    rows = data_of(__file__)["rows"]
    dialogues = {tuple(row[:3]): row[3:] for row in real.execute(counts).fetchall()}
    found = {}
    for release, language, split, subset, count, labels, *hard in real.execute(rows).fetchall():
        sums = (tuple(hard[0:3]), tuple(hard[3:6]), tuple(hard[6:8]))
        found[release, language, split, subset] = (*dialogues[release, split, subset], count, labels, *sums)
    assert found
    assert found == {key: COUNTS[key] for key in found}


def test_the_run_that_the_challenge_documents(real: duckdb.DuckDBPyConnection) -> None:
    """getting_started.md: the last 50 files of IRIS_100 by name, threshold 0.5."""
    query = """
        select count(*), count_if(label_at_half = 'O'), count_if(label_at_half = 'T'), count_if(label_at_half = 'X'),
            count_if(lenient_label = 'X_l')
        from dbdc3.breakdown_detection
        where (release, subset) = ('dev_zips', 'IRIS_json_data') and native_id >= 'iris_00106'
    """
    found = real.execute(query).fetchall()
    if found == [(0, 0, 0, 0, 0)]:
        pytest.skip("iris_100.zip is not there")
    assert found == [(500, 315, 17, 168, 387)]


def test_every_dialogue_is_one_row(real: duckdb.DuckDBPyConnection) -> None:
    doubled = "select native_id from main.dialogues where corpus_id = 'dbdc3' group by all having count(*) > 1"
    assert real.execute(doubled).fetchall() == []


def test_every_cic_talk_has_its_paragraph_in_every_release(real: duckdb.DuckDBPyConnection, folder: Path) -> None:
    if not (folder / "DBDC3_context.zip").is_file():
        pytest.skip("DBDC3_context.zip is not there")
    query = "select distinct background is not null from dbdc3.breakdown_detection where subset[:3] = 'CIC'"
    assert real.execute(query).fetchall() == [(True,)]
