"""The publishers' files, written back from the tables alone, and compared with what came in."""
