"""The scenarios: each with the files that it invents, its own sides, and the peers that it is compared with."""
