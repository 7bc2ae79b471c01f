"""Queries and exports: a sandbox for SQL that anybody wrote, and one writer for each format."""
