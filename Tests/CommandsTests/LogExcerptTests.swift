import Basics
import Foundation
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
        ("Cookie: __Host-console=abc; theme=def", ["abc", "def"]),
        ("> Set-Cookie: member_x=abc; Path=/", ["abc"]),
        (#"{"cookie":"a=abc; b=\"def","user":"ada"}"#, ["abc", "def"]),
        ("Authorization: Basic YWRhOmh1bnRlcg==", ["YWRhOmh1bnRlcg"]),
        ("secret_access_key: wJalrXUtnFEMI/K7MDENG", ["wJalr", "MDENG"]),
        ("aws_secret_access_key = wJalrXUtnFEMI", ["wJalr"]),
        ("x-api-key:abc", ["abc"]),
        ("pulled https://ada:hunter2pw@host.example/x", ["ada", "hunter2pw"]),
        ("redis://:hunter2pw@host/0", ["hunter2pw"]),
        ("PUT /data/x?OSSAccessKeyId=abc&Expires=1 200", ["abc"]),
    ])
    func secretsAreReplaced(line: String, secrets: [String]) {
        let scrubbed = SecretScrubber.scrubbed(line)
        for secret in secrets { #expect(!scrubbed.contains(secret), "\(scrubbed)") }
        #expect(scrubbed.contains("***"))
    }

    /// The rest of a line is kept, because it is what the log is read for.
    @Test func textAroundASecretStays() {
        #expect(
            SecretScrubber.scrubbed(#"{"token":"abc def","user":"ada"} https://a:b@host/x?y=1 done"#)
                == #"{"token":"***","user":"ada"} https://***@host/x?*** done"#)
    }

    /// The exact result of each rule, and of texts that end within a secret.
    @Test(arguments: [
        ("x+y://u:p@h a://b@", "x+y://***@h a://***@"), ("1://u@h ://u@h", "1://u@h ://u@h"),
        ("a?b c ?d e?", "a?*** c ?d e?"), ("a?b?c\"d?e<", "a?***\"d?***<"),
        (#"cookie" : "a\"b" c"#, #"cookie" : "***" c"#), (#"COOKIE"="a\"#, #"COOKIE"="***"\"#),
        ("authorization=a b\r\nc", "authorization=***\r\nc"), ("authorization:  \n", "authorization:  \n"),
        (#"my.token'= "a b"#, #"my.token'= "***""#), ("x_SECRET_y=a,b", "x_SECRET_y=***,b"), ("secret is", "secret is"),
        ("token=a=b&token:c", "token=***&token:***"), ("tokens token", "tokens token"),
        ("bearer  a,b bearer", "bearer  ***,b bearer"), ("xdgwka dgwk+/=a!", "xdgwka ***!"), ("DGWKa eyj", "DGWKa eyj"),
    ])
    func restOfTheTextStays(text: String, scrubbed: String) {
        #expect(SecretScrubber.scrubbed(text) == scrubbed)
    }

    @Test(arguments: TokenPrefix.allCases)
    func everyKindOfTokenIsReplaced(prefix: TokenPrefix) {
        let token = prefix.rawValue + "Ab0-_x.y"
        for line in ["a \(token) z", "(\(token))", #"{"a":"\#(token)"}"#] {
            let scrubbed = SecretScrubber.scrubbed(line)
            #expect(!scrubbed.contains("Ab0") && scrubbed.contains("***"), "\(scrubbed)")
        }
    }

    /// A new kind of token cannot be forgotten: no other file names the beginning of one.
    @Test func tablePrefixesAreDefinedNowhereElse() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var found: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            if text.contains("\"dgw") || text.contains("\"whsec_") { found.insert(file.lastPathComponent) }
        }
        #expect(found == ["TokenPrefix.swift"])
    }

    @Test(arguments: [
        #"{"time":"2026-11-23T18:00:00.123Z","level":"warning","message":"a scheduled backup failed","error":"no space"}"#,
        "method=/archebase.auth.v1.AuthService/Login peer=127.0.0.1:4711 status=OK 12 ms",
        "", "one\ntwo\n",
    ])
    func otherLinesStayAsTheyAre(line: String) {
        #expect(SecretScrubber.scrubbed(line) == line)
    }
}
