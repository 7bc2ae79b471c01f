"""Makes MANtIS's files as its authors did: from a Stack Exchange dump to dialogues, splits and response ranking."""
