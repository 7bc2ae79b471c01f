"""The tasks that can be scored: what their SQL files declare, their examples, and where a run keeps its tables."""
