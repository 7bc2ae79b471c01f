"""Croissant: a page of JSON-LD that describes a package's files, records and licences to programs, and its package."""
