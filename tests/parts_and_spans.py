"""Rows that no sample has: parts, spans, replies, turns that several say. In SQL, for any warehouse with turns."""

from talkhouse.schema.sql_files import sql_of
from tests.samples import POSTS, RELEASES

FILL = sql_of(__file__, "parts_and_spans_fill").replace("POSTS", POSTS).replace("RELEASES", RELEASES)
