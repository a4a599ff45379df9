import TestSupport
import Testing

@testable import Commands

/// Logs in support bundles have no secrets.
@Suite(.timeLimited) struct LogExcerptTests {
    @Test(arguments: [
        (#"{"level":"info","authorization":"Bearer abc.def"}"#, ["abc", "def"]),
        ("GET /data/uploads/1?x-oss-signature=5f3c&x-oss-credential=STS.AB%2F2026", ["5f3c", "AB%2F2026"]),
        ("password: hunter22 for admin", ["hunter22"]),
        (#"{"credential":"dgwkMDFhMjA3","user":"ada"}"#, ["MDFhMjA3"]),
        ("token=eyJhbGciOiJFUzI1NiJ9.eyJzdWIi.c2ln", ["hbGciOiJFUzI1NiJ9", "c2ln"]),
        ("refused the key dgwkMDFh-xyz", ["MDFh", "xyz"]),
    ])
    func secretsAreReplaced(line: String, secrets: [String]) {
        let scrubbed = LogExcerpt.scrubbed(line)
        for secret in secrets { #expect(!scrubbed.contains(secret), "\(scrubbed)") }
        #expect(scrubbed.contains("***"))
    }

    @Test(arguments: [
        #"{"time":"2026-11-23T18:00:00.123Z","level":"warning","message":"a scheduled backup failed","error":"no space"}"#,
        "method=/archebase.auth.v1.AuthService/Login peer=127.0.0.1:4711 status=OK 12 ms",
        "", "one\ntwo\n",
    ])
    func otherLinesStayAsTheyAre(line: String) {
        #expect(LogExcerpt.scrubbed(line) == line)
    }
}
