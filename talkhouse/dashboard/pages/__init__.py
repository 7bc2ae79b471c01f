"""The pages: a module each, with a function ``page``."""
