"""The table of intents, a .csv."""
