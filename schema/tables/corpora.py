"""What a corpus declares of itself: title, licence, and the vocabulary of its labels."""

from sqlalchemy import JSON, Boolean, Column, Date, ForeignKey, Integer

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
    Column(
        "made_from",
        Text,
        comment="What its files were made from, where they are not its publisher's; null: they are, or a sample.",
    ),
    Column(
        "authors",
        JSON,
        comment="Its authors in order: a list of objects with family and given; null: not declared, or not known of a corpus whose files were read before schema 0006.",
    ),
    Column(
        "year",
        Integer,
        comment="Year in which it was published; null: not declared, or not known of a corpus whose files were read before schema 0006.",
    ),
    Column(
        "reference",
        JSON,
        comment="The publication to cite: an object with kind (as BibTeX has it), title, venue, and doi, arxiv or url; null: not declared, or not known of a corpus whose files were read before schema 0006.",
    ),
    Column(
        "datasheet",
        JSON,
        comment="What its datasheet says: an object with motivation, composition, collection, labelling, uses and limits, which are texts, and quirks and sources, which are lists of texts; null: not declared, or not known of a corpus whose files were read before schema 0007.",
    ),
    grain=("corpus_id",),
    owner="corpus_id",
    comment="A corpus, with its licence and citation.",
)

corpus_terms = table(
    "corpus_terms",
    Required("corpus_id", Text, ForeignKey("corpora.corpus_id"), comment="Corpus."),
    Required("part", Text, comment="The part of it that is under these terms: all, or what its publisher calls it."),
    Column(
        "columns",
        JSON,
        comment="The columns that the part is: a list of schema.view.column, of a JSON column also with a member of it; null: all that no other part is.",
    ),
    Column("said_from", Date, comment="The part is only what was said from this day on, UTC; null: from the first."),
    Column("said_before", Date, comment="And before this day, UTC; null: to the last."),
    Column("spdx", Text, comment="Licence as an expression of SPDX identifiers; null: there is none."),
    Column("licence_url", Text, comment="Address of the licence's text."),
    Required("is_attribution", Boolean, comment="True: name the authors."),
    Required("is_share_alike", Boolean, comment="True: what is made of it must be under the same licence."),
    Required("is_non_commercial", Boolean, comment="True: not for commercial purposes."),
    Required("is_unknown", Boolean, comment="True: nobody has said under which terms some of it may be used."),
    Required("note", Text, comment="What a user must know of it; empty where there is nothing."),
    grain=("corpus_id", "part"),
    owner="corpus_id",
    comment="What the licence of a part of a corpus asks of whoever uses it; samples have no terms.",
)

releases = table(
    "releases",
    Required("corpus_id", Text, ForeignKey("corpora.corpus_id"), comment="Corpus."),
    Required("release", Text, comment="Publisher's release, as its path names it."),
    Required(
        "release_index",
        Integer,
        comment="0-based position in the corpus's order of preference: a dialogue's default publication is in the first of the publisher's releases that have a record of it.",
    ),
    Column("title", Text, comment="What people call it, such as the original labels; null: no declaration knows it."),
    Column("description", Text, comment="What sets it apart from the others; null: no declaration knows it."),
    grain=("corpus_id", "release"),
    owner="corpus_id",
    comment="The publisher's releases of a corpus that has several, in the order in which its default publications are taken from them.",
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
    Column(
        "scale",
        Text,
        comment="How its labels follow one another: good_to_bad, or ordered, in the order of label_index; null: in no order.",
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
    Column("label_index", Integer, comment="0-based position in the declared order; null: no declaration knows it."),
    grain=("scheme", "label"),
    owner="scheme",
    comment="The vocabulary of the schemes: every label that is declared or occurs.",
)
