"""An index of the characters of sentences, so that a search does not read every text.

SQLite has it as an FTS5 table that triggers keep in step, PostgreSQL as an index of pg_trgm. Where the database offers
neither, searching works all the same, only slower.
"""

from django.db import DatabaseError, migrations, transaction
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

SQLITE = (
    "CREATE VIRTUAL TABLE annotation_sentence_search"
    " USING fts5(text, content='annotation_sentence', content_rowid='id', tokenize='trigram')",
    "CREATE TRIGGER annotation_sentence_search_added AFTER INSERT ON annotation_sentence BEGIN"
    " INSERT INTO annotation_sentence_search(rowid, text) VALUES (new.id, new.text); END",
    "CREATE TRIGGER annotation_sentence_search_removed AFTER DELETE ON annotation_sentence BEGIN"
    " INSERT INTO annotation_sentence_search(annotation_sentence_search, rowid, text)"
    " VALUES ('delete', old.id, old.text); END",
    "CREATE TRIGGER annotation_sentence_search_changed AFTER UPDATE OF text ON annotation_sentence BEGIN"
    " INSERT INTO annotation_sentence_search(annotation_sentence_search, rowid, text)"
    " VALUES ('delete', old.id, old.text);"
    " INSERT INTO annotation_sentence_search(rowid, text) VALUES (new.id, new.text); END",
    "INSERT INTO annotation_sentence_search(annotation_sentence_search) VALUES ('rebuild')",
)
SQLITE_BACK = (
    "DROP TRIGGER IF EXISTS annotation_sentence_search_added",
    "DROP TRIGGER IF EXISTS annotation_sentence_search_removed",
    "DROP TRIGGER IF EXISTS annotation_sentence_search_changed",
    "DROP TABLE IF EXISTS annotation_sentence_search",
)
POSTGRESQL = (
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    'CREATE INDEX annotation_sentence_search ON annotation_sentence USING gin (UPPER("text") gin_trgm_ops)',
)
POSTGRESQL_BACK = ("DROP INDEX IF EXISTS annotation_sentence_search",)


def add_index(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    connection = schema_editor.connection
    statements = {"sqlite": SQLITE, "postgresql": POSTGRESQL}.get(connection.vendor, ())
    try:
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
    except DatabaseError as error:
        print(f"\n  Searching sentences will be slow in large corpora: {error}", end="")


def remove_index(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        for statement in {"sqlite": SQLITE_BACK, "postgresql": POSTGRESQL_BACK}.get(connection.vendor, ()):
            cursor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0014_crowd_stages")]
    operations = [migrations.RunPython(add_index, remove_index)]
