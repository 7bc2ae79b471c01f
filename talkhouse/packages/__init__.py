"""Packages of a warehouse's rows for other programs: for Hugging Face's datasets, Croissant and ConvoKit."""
