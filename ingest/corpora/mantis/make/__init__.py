"""Makes the publisher's files from dumps of Stack Exchange, as the authors' code does; knows no database."""
