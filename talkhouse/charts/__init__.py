"""The declared charts: read, queried, and what every tool that draws them has to know; drawn by Altair."""
