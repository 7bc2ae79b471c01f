"""The response-ranking TSVs and their lookup files."""
