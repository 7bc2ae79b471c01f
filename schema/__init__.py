"""The shape of a warehouse: its tables, how a file is opened, and the errors that everything else raises."""
