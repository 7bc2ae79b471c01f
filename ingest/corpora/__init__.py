"""One folder per corpus; the folder is the registration (see ``talkhouse.ingest.registry``)."""
