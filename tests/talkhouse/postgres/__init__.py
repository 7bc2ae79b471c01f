"""The serving copy in PostgreSQL, on servers of the tests' own."""
