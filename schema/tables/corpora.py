"""What a corpus declares of itself: title, licence, and the vocabulary of its labels."""

from sqlalchemy import Boolean, Column, ForeignKey, Integer

from talkhouse.schema.tables.base import Required, Text, table

corpora = table(
    "corpora",
    Required("corpus_id", Text, primary_key=True, comment="Id of the corpus; every key of its rows begins with it."),
    Required("title", Text, comment="Title, as its authors give it."),
    Required("description", Text, comment="What it is, in a sentence or two."),
    Required("homepage", Text, comment="Address of its home page."),
    Required("licence", Text, comment="Licence, as its publisher names it."),
    Column("licence_url", Text, comment="Address of the licence's text."),
    Required("terms", Text, comment="What a user must know beyond the licence; empty where there is nothing."),
    Required("citation", Text, comment="What to cite, as BibTeX or a reference."),
    Required("languages", Text, comment="ISO 639-1 codes, separated by blanks."),
    Required("reader_version", Integer, comment="Version of the reader that filled the tables."),
    Required("is_sample", Boolean, comment="True: invented sample data that ships with Talkhouse."),
    Column("declaration", Text, comment="The declaration that its files were read by, verbatim; null: it is Python."),
    Column("origin", Text, comment="Where its reader came from: built in, package NAME VERSION, or folder PATH."),
    grain=("corpus_id",),
    owner="corpus_id",
    comment="A corpus, with its licence and citation.",
)

schemes = table(
    "schemes",
    Required("scheme", Text, primary_key=True, comment="Name of the annotation scheme: corpus.name."),
    Required("description", Text, comment="What is labelled, by whom, and how."),
    Required("target", Text, comment="What a label is about: turn, dialogue, record or persona."),
    Column(
        "kind",
        Text,
        comment="single_label: each annotator gives a thing one label. multi_label: any number at once. structure: the labels are parts of one structure, such as acts with slots. Null: not declared.",
    ),
    grain=("scheme",),
    owner="scheme",
    comment="An annotation scheme: what a kind of label is about.",
)

labels = table(
    "labels",
    Required("scheme", Text, ForeignKey("schemes.scheme"), primary_key=True, comment="Scheme of the label."),
    Required("label", Text, primary_key=True, comment="The label, verbatim from the publisher."),
    Column("meaning", Text, comment="What it means; null for a label that no declaration knows."),
    Column(
        "namespace",
        Text,
        comment="The service or domain within which a name has this meaning: the label is namespace, a dot, the name. Null: the label is the name.",
    ),
    grain=("scheme", "label"),
    owner="scheme",
    comment="The vocabulary of the schemes: every label that is declared or occurs.",
)
