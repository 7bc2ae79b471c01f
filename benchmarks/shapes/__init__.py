"""Invented files and warehouses, in the shapes of those that are published."""
