# /// script
# requires-python = ">=3.11"
# dependencies = []
# ///
"""Has expat check XML files, without handlers.

expat_parse.py FILE ...
"""

import sys
from pathlib import Path
from xml.parsers import expat

for name in sys.argv[1:]:
    parser = expat.ParserCreate()
    with Path(name).open("rb") as stream:
        while piece := stream.read(1_000_000):
            parser.Parse(piece)
