"""Tasks that Label Studio imports: a dialogue each, with its labels as predictions."""
