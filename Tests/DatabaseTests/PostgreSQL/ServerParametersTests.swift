import DatabaseTesting
import Foundation
import TestSupport
import Testing

@testable import Database

/// The parameters of connections, for which no server is needed.
@Suite(.timeLimited) struct ServerParametersTests {
    private func parameters(
        _ url: String, _ change: (inout PostgresServer) -> Void = { _ in }
    ) throws -> [String: String] {
        var server = PostgresServer(url: url)
        change(&server)
        return try server.parameters()
    }

    @Test func passwordIsReadAtEachConnect() throws {
        let folder = try TestFolder()
        let file = folder.path + "/password"
        var server = PostgresServer(url: "postgresql://gateway@db.example/gateway")
        server.passwordFile = file
        #expect(throws: DatabaseError.self) { try server.parameters() }
        for password in ["first", "second word"] {
            try "\(password)\nanother line\n".write(toFile: file, atomically: true, encoding: .utf8)
            #expect(try server.parameters()["password"] == password)
        }
        try "\n".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(
            throws: DatabaseError.unavailable("the first line of \(file) has to be the password, and is empty")
        ) { try server.parameters() }
    }

    @Test func remoteServersNeedACertificate() throws {
        let remote = try parameters("postgresql://gateway@a.example,b.example/gateway")
        #expect(remote["sslmode"] == "verify-full")
        #expect(remote["sslrootcert"] == "/etc/ssl/certs/ca-certificates.crt")
        #expect(remote["target_session_attrs"] == "read-write")
        let own = try parameters("postgresql://gateway@a.example/gateway") {
            $0.tls.authorities = "/a.pem"
            $0.tls.certificate = "/c.pem"
            $0.tls.key = "/k.pem"
        }
        #expect(own["sslmode"] == "verify-full")
        #expect([own["sslrootcert"], own["sslcert"], own["sslkey"]] == ["/a.pem", "/c.pem", "/k.pem"])
        #expect(try parameters("postgresql://gateway@localhost,a.example/gateway")["sslmode"] == "verify-full")
    }

    @Test(arguments: [
        "postgresql://gateway@localhost/gateway", "postgresql:///gateway?host=/run/postgresql",
        "postgresql://gateway@127.0.0.1,[::1]/gateway", "postgresql:///gateway",
    ]) func serversOnThisMachineNeedNone(_ url: String) throws {
        #expect(try parameters(url)["sslmode"] == nil)
        #expect(try parameters(url) { $0.tls.authorities = "/a.pem" }["sslmode"] == "verify-full")
    }

    @Test func modeOfTheURLStays() throws {
        let disabled = try parameters("postgresql://gateway@a.example/gateway?sslmode=disable")
        #expect(disabled["sslmode"] == "disable")
        #expect(disabled["sslrootcert"] == nil)
    }

    @Test(arguments: [
        ("postgresql://gateway@a.example/gateway", nil),
        ("postgres://gateway@a.example:6432,b.example/gateway?sslmode=require", nil),
        ("host=a.example user=gateway", "must be postgresql://USER@HOST[:PORT]/DATABASE"),
        ("postgresql://gateway@a.example/gateway?unknown=1", "must be postgresql://USER@HOST[:PORT]/DATABASE"),
        (
            "postgresql://gateway:secret@a.example/gateway",
            "must not have a password: write it into a file, and set database.password_file"
        ),
        (
            "postgresql://gateway@a.example/gateway?password=secret",
            "must not have a password: write it into a file, and set database.password_file"
        ),
    ]) func urlsOfConfigurationsAreJudged(_ url: String, _ problem: String?) {
        #expect(PostgresServer.problem(of: url) == problem)
    }

    @Test func placeHasNoUser() {
        let server = PostgresServer(
            url: "postgresql://gateway@a.example,b.example/objects?sslmode=require", schema: "robots")
        #expect(server.place == "postgresql://a.example,b.example/objects, schema robots")
    }
}
