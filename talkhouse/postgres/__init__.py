"""The serving copy in PostgreSQL: tables and the rows of views, proven equal, replaced in one transaction."""
