"""The report on a warehouse: one HTML page that holds all that it needs."""
