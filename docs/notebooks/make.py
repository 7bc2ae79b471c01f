"""Makes the notebooks: ``uv run --with nbclient --with ipykernel python -m docs.notebooks.make [FOLDER]``.

Each page of Markdown in this folder becomes a notebook, executed in a temporary folder, with its pictures; a block of
Python or of commands is a cell. FOLDER gets the notebooks; by default, it is this folder.
"""

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

HERE = Path(__file__).parent
_CELL = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def notebook(page: Path) -> nbformat.NotebookNode:
    """Execute a page of Markdown as a notebook."""
    cells, end = [], 0
    text = page.read_text(encoding="utf-8")
    for block in _CELL.finditer(text):
        cells.append(new_markdown_cell(text[end : block.start()].strip()))
        cells.append(new_code_cell(block[2].strip() if block[1] == "python" else f"%%sh\n{block[2].strip()}"))
        end = block.end()
    cells = [cell for cell in [*cells, new_markdown_cell(text[end:].strip())] if cell.source]
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    executed = new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            executed, resources={"metadata": {"path": folder}}, record_timing=False, coalesce_streams=True, timeout=300
        ).execute()
    executed.metadata.pop("language_info", None)  # the version of Python
    return executed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=HERE)
    folder = parser.parse_args().folder
    # The cells' commands are those of this environment, and as wide as a page.
    os.environ |= {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "100"}
    for source in sorted(HERE.glob("*.md")):
        nbformat.write(notebook(source), folder / f"{source.stem}.ipynb")
