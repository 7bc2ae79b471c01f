"""Files as they lie on disk and in archives: found, bounded, and never written under their names."""
