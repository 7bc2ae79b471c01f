"""What is in a warehouse: status, findings, views, search, schemes, and a dialogue as people read it."""
