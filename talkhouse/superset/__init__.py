"""Writes a warehouse's dashboards as a file that Apache Superset imports."""
