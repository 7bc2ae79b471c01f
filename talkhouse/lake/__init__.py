"""The lake: tables as Parquet and every view as Spark SQL, for warehouses that outgrow one machine."""
