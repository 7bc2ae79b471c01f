"""The SQL of a warehouse: task views, macros, and which turns are examples; one SELECT per file, path = name."""
