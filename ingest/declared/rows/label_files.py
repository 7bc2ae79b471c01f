"""Reads files of labels: a row a label, for dialogues that were read before."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import polars as pl

from talkhouse.ingest.declared.declaration.model import Annotations, Declaration, Files
from talkhouse.ingest.declared.identity import Identity
from talkhouse.ingest.declared.offsets import Offsets
from talkhouse.ingest.declared.rows.columns import ID, Hole
from talkhouse.ingest.declared.rows.known_dialogues import KnownDialogue, KnownDialogues
from talkhouse.ingest.declared.rows.label_columns import LabelFileColumns, hole_of, label_file_columns
from talkhouse.ingest.declared.rows.label_values import number_text, offset_text
from talkhouse.ingest.declared.rows.opening import open_frames
from talkhouse.ingest.declared.rows.spool import NUMBER, Spool
from talkhouse.ingest.declared.shapes import Shapes
from talkhouse.ingest.declared.shapes import _alias as alias
from talkhouse.ingest.decode import BadRecord, pointer
from talkhouse.ingest.outcomes import FileEnvelope, LoadedBatch, Outcome, ReaderFinding, Rejected, SourceLocation, reject
from talkhouse.ingest.rows import Annotation, Record, Row
from talkhouse.ingest.sources import SourceFile
