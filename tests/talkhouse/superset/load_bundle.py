"""Runs where Superset is installed: validate bundles as its import does; prints what is wrong with each, as JSON."""

import json
import sys
from zipfile import ZipFile

from flask_appbuilder import Model
from superset.app import create_app


def main() -> None:
    with create_app().app_context():
        from superset import db
        from superset.commands.exceptions import CommandInvalidError
        from superset.commands.importers.v1.assets import ImportAssetsCommand
        from superset.commands.importers.v1.utils import get_contents_from_bundle

        Model.metadata.create_all(db.engine)
        found = {}
        for path in sys.argv[1:]:
            with ZipFile(path) as archive:
                command = ImportAssetsCommand(get_contents_from_bundle(archive))
            try:
                command.validate()
                found[path] = {"files": sorted(command._configs), "wrong": {}}
            except CommandInvalidError as error:
                found[path] = {"files": sorted(command._configs), "wrong": error.normalized_messages()}
        print(json.dumps(found))


if __name__ == "__main__":
    main()
