"""The publisher's folder has such a file beside the groups; it is no data."""
