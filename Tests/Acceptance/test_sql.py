"""The checks of `scripts/sql`, `scripts/nulls` and `scripts/transactions` themselves: the schema that they use is the gateway's,
and they notice errors."""

from contextlib import closing

import pytest
from engines import bounds, order, plans, postgres, replay, rows, schema, sources, texts, transactions
from support import apps, sql_recorder
from support.database import reading
from support.gateway import Gateway

pytestmark = pytest.mark.sqlite

#: A few rows are enough for plans that avoid a scan wherever an index is there.
OBJECTS = 5000
OLD = "INSERT INTO store_owners (upload_id, owner) VALUES ($1, $2) ON CONFLICT (upload_id) DO UPDATE SET owner = 'x'"


@pytest.fixture(scope="module")
def lite():
    with closing(schema.connect()) as database:
        schema.apply(database)
        yield database


@pytest.fixture(scope="module")
def server():
    with postgres.Server() as server:
        yield server


@pytest.fixture(scope="module")
def connection(server, lite):
    with closing(server.database()) as connection:
        rows.make(connection, lite, OBJECTS)
        yield connection


def described(database) -> set[tuple]:
    """The objects of a schema; tables by name, because the order of their columns depends on that of the migrations."""
    return {
        (object.kind, object.name, "" if object.kind == "table" else object.sql) for object in schema.objects(database)
    }


def test_schema_of_sources_is_the_gateways(gateway_with, lite):
    gateway = gateway_with(apps.enabled())
    with reading(gateway) as database:
        assert described(database) == described(lite)
        assert schema.columns(database) == schema.columns(lite)


def test_no_entry_of_an_index_is_too_long_for_postgresql(lite):
    assert bounds.judge(lite) == []
    with closing(schema.connect()) as database:
        schema.apply(database)
        database.execute("CREATE INDEX long ON object_facets (key, value, value)")
        database.execute("CREATE INDEX unknown ON sites (lower(name), status) WHERE name > ''")
        database.execute("CREATE INDEX free ON audit (action)")
        failures = bounds.judge(database)
    assert sorted(failures) == [
        "free: the longest value of audit.action is not in scripts/engines/bounds.py",
        "long: an entry may have 4160 bytes, and PostgreSQL permits 2688",
    ]


def test_literals_are_found_in_every_form():
    source = '''
        // "a comment"
        let one = "SELECT \\(list("x")) FROM t" /* "another" */
        let raw = #"SELECT "a" \\d"#
        let lines = """
            SELECT a
                FROM \\(table) \\
            LIMIT 1
            """
    '''
    found = [(literal.line, literal.text) for literal in sources.literals("x.swift", source)]
    lines = "SELECT a\n    FROM \\(table) LIMIT 1"
    assert found == [(3, 'SELECT \\(list("x")) FROM t'), (4, 'SELECT "a" \\d'), (5, lines)]


@pytest.mark.parametrize(
    "text, problem",
    [
        ("SELECT name FROM users WHERE id = $1", None),
        ("SELECT name FROM users WHERE name GLOB $1", "PostgreSQL"),
        ("SELECT 1 FROM (SELECT 1)", "PostgreSQL"),
        (f"{OLD} WHERE owner <> excluded.owner", "ambiguous"),
        (f"{OLD} WHERE store_owners.owner <> excluded.owner", None),
        ("SELECT name FROM users WHERE starts_with(name, $1)", "SQLite"),
        ("SELECT name FROM users WHERE $1", "$1 is of type bool"),
        ("SELECT name FROM users WHERE $1 = 0", "$1 is of type int4"),
        ("SELECT name FROM users WHERE id = $2", "the parameters are not"),
        ("SELECT name FROM users ORDER BY last_login_at", "NULLS"),
        ("SELECT name FROM users ORDER BY last_login_at NULLS LAST, id", None),
    ],
)
def test_texts_of_one_engine_are_refused(lite, connection, text, problem):
    found = texts.problem(lite, connection, text)
    assert found is None if problem is None else problem in found


@pytest.mark.parametrize(
    "text, terms",
    [
        ("SELECT 1 FROM users u ORDER BY u.last_login_at DESC LIMIT $1", ["u.last_login_at DESC"]),
        ("SELECT 1 FROM objects o LEFT JOIN users u ON u.id = o.position ORDER BY u.name, o.id", ["u.name"]),
        ("SELECT 1 FROM objects ORDER BY lower(name), position", ["lower(name)"]),
        ("SELECT 1 FROM objects ORDER BY coalesce(lower(name), '') DESC, position", []),
        ("SELECT 1 FROM copy_jobs WHERE finished_at < $1 ORDER BY finished_at", []),
    ],
)
def test_order_of_nullable_columns_is_noticed(text, terms):
    assert list(order.problems(text)) == terms


@pytest.mark.parametrize(
    "text, problem",
    [
        ("try await database.write { connection in do { try a() } catch DatabaseError.full { try b() } }", "catch"),
        ("try database.writeBlocking(for: owner) { [log] connection in _ = try? connection.execute(x) }", "try?"),
        ("let n = try await database.read { (try? Rows($0).count()) ?? 0 }", "try?"),
        ("struct SiteRecords { func add() throws { do { try a() } catch { log(error) } } }", "catch"),
        ("try await database.write { connection in do { try a() } catch DatabaseError.full { throw b } }", None),
        ("do { try await database.write { try Rows($0).add() } } catch { log(error) }", None),
    ],
)
def test_transactions_that_continue_after_a_failure_are_noticed(text, problem):
    found = transactions.problems(text).values()
    assert [problem in each for each in found] == ([True] if problem else [])


@pytest.mark.parametrize(
    "text, problem",
    [
        ("SELECT id FROM objects WHERE etag = $1", "reads all rows of objects"),
        ("SELECT id FROM objects WHERE organization_id >= $1 ORDER BY etag", "objects"),
        ("SELECT id FROM objects WHERE file_id = $1", None),
        ("SELECT id FROM organizations WHERE display_name = $1", None),
        ("SELECT EXISTS (SELECT 1 FROM objects) AS some", None),
    ],
)
def test_plans_that_read_all_rows_are_refused(connection, text, problem):
    report = texts.Report(texts={text: ["somewhere"]})
    plans.judge(connection, report, is_full=False)
    assert not report.failures if problem is None else problem in report.failures[0]


def test_recorded_statements_have_the_same_results_on_postgresql(
    binary, tmp_path, tmp_path_factory, login, monkeypatch, capsys
):
    """The replay notices a row that the other engine does not have."""
    folders = {"SQL_TEXTS": tmp_path / "texts", "SQL_HISTORY": tmp_path / "history"}
    for name, folder in folders.items():
        folder.mkdir()
        monkeypatch.setitem(sql_recorder.FOLDERS, name, str(folder))
    gateway = Gateway(binary, tmp_path_factory.mktemp("gateway")).start()
    admin = login(gateway)
    admin.create_organization("one", "a password of some length")
    assert gateway.stop() == 0
    assert any("INSERT INTO organizations" in text for text in texts.seen_at_run_time(folders["SQL_TEXTS"]))
    assert replay.run(folders["SQL_HISTORY"]) == 0
    assert "1 databases" in capsys.readouterr().out
    for path in folders["SQL_HISTORY"].iterdir():
        path.write_bytes(path.read_bytes().replace(b"3\3\0\0\0\0\0\0\0one", b"3\3\0\0\0\0\0\0\0two"))
    assert replay.run(folders["SQL_HISTORY"]) > 0
