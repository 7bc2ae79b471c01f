"""From a reader's rows to tables: validation, columnar batches, and the count of every file."""
