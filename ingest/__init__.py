"""From raw files to tables.

The modules here are the interface for corpora: what a declaration is (``corpus``, ``about``, ``common_rules``), what
readers get and yield (``sources``, ``outcomes``, ``rows``), what they have in common (``decode``, ``json_members``,
``input_files``, ``keys``), what writers get (``stored_record``), and what makers report to (``progress``). Below them,
for Talkhouse alone:

- ``registry``: which corpora there are, and how their code is imported.
- ``files``: files on disk and in archives, and how much of them is read.
- ``contract``: what every corpus must keep to, and what is said where one does not.
- ``loading``: from a reader's rows to tables.
- ``declared``: corpora that a page of TOML declares, and the formats that it may name.
- ``corpora``: the corpora that come with Talkhouse, a folder each.
"""
