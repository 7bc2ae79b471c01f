"""From a reader's rows to tables: validation, columnar batches, the count of every file, and processes that read."""
