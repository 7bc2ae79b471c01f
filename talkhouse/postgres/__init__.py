"""The serving copy in PostgreSQL: tables and the rows of views, proven equal, swapped in one transaction."""
