"""What is in a warehouse: status, findings, views, the data dictionary, search, and one dialogue or record."""
