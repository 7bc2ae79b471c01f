"""From raw files to tables: sources, decode, corpus readers, validation, columnar load."""
