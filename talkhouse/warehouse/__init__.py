"""What commands ask of a warehouse: the build, its corpora, the views of splits, whose views they are, equal rows."""
