"""What is missing where a chart has no rows: the files that the build did not find."""

from talkhouse.charts.declared import Chart
from talkhouse.charts.rows import Rows
from talkhouse.schema.sql import literal

MISSING = """
select detail from bi.findings
where rule = 'TH-08' and (starts_with({view}, corpus_id || '_') or {view} = corpus_id)
order by detail
"""


def missing_files(rows: Rows, chart: Chart) -> list[str]:
    """Return what the build says of missing files of the corpus whose view a chart asks; empty: none is missing."""
    return rows(MISSING.format(view=literal(chart.view)))["detail"].to_list()
