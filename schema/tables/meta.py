"""What a corpus declares of itself, and housekeeping in the schema ``meta``: builds, source files, findings, quarantine."""

from sqlalchemy import JSON, TIMESTAMP, BigInteger, Boolean, Column, Date, Double, ForeignKey, Integer, LargeBinary

from talkhouse.schema.tables.base import LongText, Required, Text, table
from talkhouse.schema.warehouse import HOUSEKEEPING

loads = table(
    "loads",
    Required("load_id", Integer, primary_key=True, autoincrement=False, comment="Number of the build, from 1."),
    Required("started_at", TIMESTAMP, comment="Start of the build, UTC."),
    Required("finished_at", TIMESTAMP, comment="End of the build, UTC."),
    Required("talkhouse_version", Text, comment="Version of Talkhouse that built it."),
    Required("schema_revision", Text, comment="Schema revision."),
    Required("catalogue_hash", Text, comment="SHA-256 over the SQL of all views, macros and examples."),
    Required("source", Text, comment="Where it was read from: the data folder, the given paths, or 'samples'."),
    Required("reader_versions", JSON, comment="Corpus id -> version of its reader."),
    Required("outcome", JSON, comment="Corpus id -> loaded, unchanged or removed."),
    grain=("load_id",),
    owner=None,
    comment="One build that was published.",
    schema=HOUSEKEEPING,
)

source_files = table(
    "source_files",
    Required(
        "source_file_id",
        Text,
        primary_key=True,
        comment="Key: path inside the data folder; for a member of an archive, '!' and its path in the archive.",
    ),
    Required("corpus_id", Text, comment="Corpus of the file."),
    Required("path", Text, comment="Path of the file on disk, inside the data folder."),
    Column("member", Text, comment="Path inside the archive; null: the file itself."),
    Required(
        "kind",
        Text,
        comment="read, archive (a container; its members have rows of their own), skipped (by name), unrecognised, or refused.",
    ),
    Required("sha256", Text, comment="SHA-256 of the bytes, 64 hex digits."),
    Required("size", BigInteger, comment="Size in bytes."),
    Required("modified_at", TIMESTAMP, comment="Modification time of the file on disk, UTC."),
    Column("mtime_ns", BigInteger, comment="The same in nanoseconds, to tell whether it changed; null for members."),
    Column(
        "inode", BigInteger, comment="Inode of the file on disk, to tell whether it was replaced; null for members."
    ),
    Required("records_in", Integer, comment="Source records that the file holds."),
    Required("records_loaded", Integer, comment="Of these, in table records."),
    Required("records_quarantined", Integer, comment="Of these, in meta.quarantine."),
    Column("note", Text, comment="Why it was skipped or refused; or a byte order mark at its start."),
    Column(
        "extra",
        JSON,
        comment="What the file says beside its records, such as its keys in published order; its README lists the keys.",
    ),
    Column(
        "counts",
        JSON,
        comment="What findings about the whole corpus add up: turns, turns_without_text, and first_without_text, the "
        "pointer of the first of these; null: not counted, or read before schema 0011.",
    ),
    grain=("source_file_id",),
    owner="corpus_id",
    comment="A file of a corpus, with its counts: records_in = records_loaded + records_quarantined.",
    schema=HOUSEKEEPING,
)

query_files = table(
    "query_files",
    Required("folder", Text, comment="Corpus that brings it; or bi, checks, metrics."),
    Required("name", Text, comment="Path in that folder, such as lines.sql or bi/metrics.toml."),
    Required("text", LongText, comment="The file."),
    grain=("folder", "name"),
    owner=None,
    comment="The SQL and the charts of corpora that did not come with Talkhouse, which commands read here.",
    schema=HOUSEKEEPING,
)

rules = table(
    "rules",
    Required("rule", Text, primary_key=True, comment="Id of the rule."),
    Column("corpus_id", Text, comment="Corpus that declares it; null: a common rule."),
    Required("severity", Text, comment="reject_file, reject_dialogue, reject_example, warn or note."),
    Required("condition", Text, comment="When it applies."),
    Required("remedy", Text, comment="What to do about it."),
    grain=("rule",),
    owner=None,
    comment="The rules that findings and quarantined records name.",
    schema=HOUSEKEEPING,
)

findings = table(
    "findings",
    Column("corpus_id", Text, comment="Corpus; null: the build itself."),
    Required("finding_index", Integer, comment="0-based position within its corpus."),
    Required("rule", Text, ForeignKey("meta.rules.rule"), comment="Rule, see meta.rules."),
    Required("severity", Text, comment="Severity of the rule."),
    Column("source_file_id", Text, comment="The file that it is about (a path where that is not a source file)."),
    Column("pointer", Text, comment="JSON pointer, or line, in that file."),
    Column("record_id", Text, comment="The record, where it was loaded."),
    Column("task", Text, comment="The task whose example was refused."),
    Column("turn_index", Integer, comment="The turn."),
    Required("detail", Text, comment="What was found."),
    grain=("corpus_id", "finding_index"),
    owner="corpus_id",
    comment="Everything that was warned about or refused.",
    schema=HOUSEKEEPING,
)

quarantine = table(
    "quarantine",
    Required("corpus_id", Text, comment="Corpus of the record."),
    Required(
        "source_file_id", Text, ForeignKey("meta.source_files.source_file_id"), comment="The file that it came from."
    ),
    Required("pointer", Text, comment="JSON pointer, or line, in that file; empty for the whole file."),
    Required("rule", Text, ForeignKey("meta.rules.rule"), comment="Rule that it broke, see meta.rules."),
    Required("detail", Text, comment="What was expected and found, with its place in the record."),
    Column("subset", Text, comment="As in records."),
    Column("release", Text, comment="As in records."),
    Column("split", Text, comment="As in records."),
    Column("record_index", Integer, comment="As in records."),
    Column("native_id", Text, comment="The publisher's id of the record, if it could be read."),
    Required("raw", LargeBinary, comment="The record, byte for byte as published."),
    grain=("source_file_id", "pointer"),
    owner="corpus_id",
    comment="A source record that could not be loaded, verbatim.",
    schema=HOUSEKEEPING,
)

checks = table(
    "checks",
    Required("check_name", Text, primary_key=True, comment="Name of the check; a sentence that should be true."),
    Required("severity", Text, comment="error: it stops a build; warn: what it finds is in meta.findings."),
    Required("condition", Text, comment="What should be true."),
    Required("offending", BigInteger, comment="Rows that offend against it, declared exceptions left out."),
    Required("milliseconds", Double, comment="What the check cost in this build."),
    grain=("check_name",),
    owner=None,
    comment="The checks that this build ran before it was published.",
    schema=HOUSEKEEPING,
)

exceptions = table(
    "exceptions",
    Required("corpus_id", Text, primary_key=True, comment="Corpus that declares the exception."),
    Required("check_name", Text, primary_key=True, comment="The check that it is an exception to."),
    Required(
        "scope", Text, primary_key=True, comment="What it is about, in the check's own words: two splits, a scheme ..."
    ),
    Required("reason", Text, comment="Why it is as published."),
    grain=("corpus_id", "check_name", "scope"),
    owner=None,
    comment="What corpora declare as known and meant, so that a check does not find it again.",
    schema=HOUSEKEEPING,
)


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
