"""The dashboards for Superset: the file itself, the command that writes it, and what Superset makes of it."""
