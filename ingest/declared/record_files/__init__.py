"""Files as records, whatever their form: JSON, JSON Lines, Parquet, CSV, each plain or as .gz; and back."""
