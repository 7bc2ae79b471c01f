"""The declared charts, drawn by Altair (in the dashboard and the report)."""
