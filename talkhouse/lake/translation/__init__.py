"""The views in Spark SQL: sqlglot does what it can, and each rule here one thing that it does not."""
