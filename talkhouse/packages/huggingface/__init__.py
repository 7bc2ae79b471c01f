"""Packages for Hugging Face's ``datasets`` and its Hub: Parquet with classes as numbers, and a dataset card."""
