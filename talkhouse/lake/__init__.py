"""The lake: a warehouse's tables as Parquet, and its views in the SQL of engines that run on many machines."""

from talkhouse.spark.sessions import attach

__all__ = ["attach"]
