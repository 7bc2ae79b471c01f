"""The declared charts: read, queried, and prepared for every tool that draws them; drawn by Altair."""
