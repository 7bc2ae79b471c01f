"""The views of a warehouse in Spark SQL, for lakes: sqlglot does what it can, and each rule here one thing more."""
