"""The report: the page itself, its diagram, and the command that writes it."""
