"""Makes, with the wheel, what the first build on a machine would else have to make, and the README of an index.

The former is what ``talkhouse/system/cache.py`` keeps after a build of the samples, under the same names: who has the
wheel and the same DuckDB copies it, everybody else makes it at the first build. In a clone, ``uv sync`` runs this.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_AT_THE_TOP = ("ingest", "migrations", "queries", "schema")

_MAKE = """
import sys
from pathlib import Path
from sqlalchemy.dialects import registry
registry.register("talkhouse", "talkhouse.schema.dialect", "TalkhouseDialect")  # it is not installed yet
from talkhouse.load.template import open_template
from talkhouse.ingest.registry import corpora
from talkhouse.queries.catalogue import catalogue
from talkhouse.translation.translate import left_out
splits = {name: corpus.splits for name, corpus in corpora().items()}
with open_template(Path(sys.argv[1]), catalogue(), splits) as con:
    left_out(con, catalogue())
"""


class Shipped(BuildHookInterface[Any]):
    """Makes the files of ``talkhouse/shipped``."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Make them anew; a clone that can't be written to does without."""
        shipped = Path(self.root, "talkhouse", "shipped")
        build_data["artifacts"].append("/talkhouse/shipped/")
        shutil.rmtree(shipped, ignore_errors=True)
        with tempfile.TemporaryDirectory() as home:
            code = Path(home, "code", "talkhouse")
            code.mkdir(parents=True)
            # A source distribution has no links: the packages are put where the wheel has them.
            for source in [*Path(self.root, "talkhouse").iterdir(), *(Path(self.root, name) for name in _AT_THE_TOP)]:
                if not (link := code / source.name).is_symlink():
                    link.symlink_to(source)
            command = [sys.executable, "-c", _MAKE, f"{home}/template.duckdb"]
            environment = {**os.environ, "HOME": home, "XDG_CACHE_HOME": f"{home}/.cache"}
            subprocess.run(command, cwd=code.parent, env=environment, check=True)  # noqa: S603
            with suppress(OSError):
                shipped.mkdir()
                for file in Path(home).rglob("talkhouse/*-*.*"):
                    shutil.copyfile(file, shipped / file.name)


class IndexReadme(MetadataHookInterface):
    """Makes a README for a package index, which has no other file of the repository."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Lead its links to ``[project.urls] Source``; without that, leave them and the pictures out."""
        source = metadata.get("urls", {}).get("Source")

        def moved(link: re.Match[str]) -> str:
            if source:
                return f"{link[1]}[{link[2]}]({source}/{'raw' if link[1] else 'blob'}/HEAD/{link[3]})"
            return "" if link[1] else link[2]

        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = re.sub(r"(!?)\[([^]]+)\]\((?!https?:|#)([^)]+)\)", moved, text)
        if source:
            text = re.sub(r'(src|srcset)="(?!https?:)', rf'\1="{source}/raw/HEAD/', text)
        else:
            text = re.sub(r"<picture>.*?</picture>\n*", "", text, flags=re.DOTALL)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
