"""The lake: what is written, its SQL, and the same rows on Spark."""
