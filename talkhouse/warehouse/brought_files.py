"""The SQL and the charts that a corpus from elsewhere brings: those of its folder, and of the tasks that it declares.

What makes these is imported where a corpus has a declaration: most have none.
"""

from talkhouse.ingest.corpus import Corpus
from talkhouse.ingest.known.declarations import DeclaredFolder
from talkhouse.ingest.known.origins import Origin
from talkhouse.ingest.registry import queries_of
from talkhouse.queries.files import Files, files_of


def brought_files(corpus: Corpus, origin: Origin) -> Files:
    """Return the files of a corpus; one of its folder takes the place of one of a task that has the same name.

    SQL that lies beside data is none of them: a data folder holds no code.
    """
    if corpus.declaration is None:
        return tuple(files_of(queries_of(corpus), corpus.id))
    from talkhouse.ingest.declared.declaration.read import read_declaration
    from talkhouse.warehouse.declared_tasks.files import task_files

    made = task_files(read_declaration(corpus.id, corpus.declaration, f"{corpus.id}/corpus.toml"))
    is_named = isinstance(origin, DeclaredFolder) and not origin.is_beside_data
    own = tuple(files_of(queries_of(corpus), corpus.id)) if is_named else ()
    names = {file.name for file in own}
    return (*(file for file in made if file.name not in names), *own)
