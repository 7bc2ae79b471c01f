"""What lies in a lake and how it is read: the manifest, the paths, the SQL. ``lake`` writes it, ``spark`` reads it."""
