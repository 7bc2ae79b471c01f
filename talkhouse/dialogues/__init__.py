"""A dialogue as people read it: found by its id, its turns with labels, personas, candidates and parts."""
