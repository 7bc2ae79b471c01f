"""What a declared corpus brings to a warehouse beside its rows: the SQL of its tasks, and a page of charts."""
