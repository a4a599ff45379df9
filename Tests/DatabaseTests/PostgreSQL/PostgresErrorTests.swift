import TestSupport
import Testing

@testable import Database

@Suite(.timeLimited) struct PostgresErrorTests {
    @Test(
        arguments: [
            ("23505", .constraint(.unique, message: "m")), ("23503", .constraint(.foreignKey, message: "m")),
            ("23514", .constraint(.other, message: "m")), ("23000", .constraint(.other, message: "m")),
            ("23502", .constraint(.other, message: "m")), ("53100", .full),
            ("53000", .unavailable("m")), ("53200", .unavailable("m")), ("53300", .unavailable("m")),
            ("08000", .unavailable("m")), ("08006", .unavailable("m")), ("08P01", .misuse("m")),
            ("57P01", .unavailable("m")), ("57P02", .unavailable("m")), ("57P03", .unavailable("m")),
            ("57P05", .unavailable("m")), ("25P03", .unavailable("m")), ("", .unavailable("m")), ("55P03", .locked),
            ("57014", .locked), ("40P01", .locked), ("40001", .locked), ("25P02", .rolledBack), ("22021", .misuse("m")),
            ("22P05", .misuse("m")), ("53400", .unavailable("m")), ("57P04", .server(state: "57P04", message: "m")),
            ("42P01", .server(state: "42P01", message: "m")), ("58030", .server(state: "58030", message: "m")),
            ("XX001", .server(state: "XX001", message: "m")),
        ] as [(String, DatabaseError)])
    func stateHasItsError(_ state: String, _ expected: DatabaseError) {
        #expect(DatabaseError(state: state, message: "m") == expected)
    }

    @Test(arguments: [
        "postgresql://gateway:se%zzcret@host/db", "postgresql://gateway:secret@[host/db",
        "postgresql://u:secret@h/d?x=y",
        "password=secret host", "no URL secret",
    ])
    func malformedURLIsRefusedWithoutItsPassword(_ url: String) throws {
        let error = #expect(throws: DatabaseError.self) { try PostgresServer(url: url).parameters() }
        let text = "\(try #require(error))"
        #expect(text.contains("URL is malformed") && !text.contains("secret") && !text.contains("cret"))
    }

    @Test func parametersOfTheURLAreKept() throws {
        let parameters = try PostgresServer(url: "postgresql://u:p%40w@h:5433/d?sslmode=verify-full&keepalives_idle=7")
            .parameters()
        #expect(parameters["user"] == "u" && parameters["password"] == "p@w" && parameters["dbname"] == "d")
        #expect(parameters["host"] == "h" && parameters["port"] == "5433" && parameters["sslmode"] == "verify-full")
        #expect(parameters["keepalives_idle"] == "7" && parameters["tcp_user_timeout"] == "5000")
        #expect(parameters["client_encoding"] == "UTF8" && parameters["target_session_attrs"] == "read-write")
    }

    @Test func eachHostHasItsParameters() throws {
        let places = { (url: String) in
            try PostgresServer(url: url).hosts().map { "\($0["host"] ?? "") \($0["port"] ?? "") \($0["dbname"] ?? "")" }
        }
        #expect(try places("postgresql://u@a:1,b:2,c:3/d") == ["a 1 d", "b 2 d", "c 3 d"])
        #expect(try places("host=a,b port=5433") == ["a 5433 ", "b 5433 "])
        #expect(try places("host=a") == ["a  "] && places("dbname=d") == ["  d"])
    }

    @Test func schemasHaveLocksOfTheirOwn() {
        #expect(PostgresServer(url: "", schema: "a").lockKey != PostgresServer(url: "", schema: "b").lockKey)
        // Programs of all versions use the same key.
        #expect(PostgresServer(url: "").lockKey == -1923822225)
        #expect(PostgresServer(url: "", schema: "a\"b").quotedSchema == "\"a\"\"b\"")
    }

    @Test func serverThatCannotBeReachedIsReportedWithoutThePassword() throws {
        let server = PostgresServer(url: "postgresql://u:secret@127.0.0.1:1/d")
        let error = #expect(throws: DatabaseError.self) { try PostgresSession(server, .reader) }
        let text = "\(try #require(error))"
        #expect(text.contains("the database is not available") && !text.contains("secret"))
    }

    @Test func reasonOfEachHostIsReported() throws {
        let server = PostgresServer(url: "postgresql://u@127.0.0.1:1,127.0.0.1:2/d")
        let error = #expect(throws: DatabaseError.self) { try PostgresSession(server, .reader) }
        let text = "\(try #require(error))"
        #expect(text.contains("port 1") && text.contains("port 2"))
    }
}
