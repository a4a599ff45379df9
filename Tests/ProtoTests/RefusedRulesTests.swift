import Foundation
import TestSupport
import Testing

/// The generator refuses invalid HTTP rules, and names the file and the method.
@Suite(.timeLimited) struct RefusedRulesTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Returns protoc's error messages for a file with these methods; empty on success.
    private static func output(of methods: String) throws -> String {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rules-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let text = """
            syntax = "proto3";
            package test;
            import "google/api/annotations.proto";
            import "google/api/httpbody.proto";
            import "http_style.proto";
            message In { string a = 1; repeated string many = 2; In inner = 3; google.api.HttpBody body = 4; }
            service S { \(methods) }
            """
        try text.write(to: directory.appending(path: "rules.proto"), atomically: true, encoding: .utf8)
        let log = directory.appending(path: "log").path
        let plugin = try GeneratedSourcesTests.plugin().path
        let command =
            "protoc --plugin=protoc-gen-gateway='\(plugin)' -I '\(root.path)/protos' -I /usr/include -I '\(directory.path)' "
            + "--gateway_out='\(directory.path)' rules.proto 2>'\(log)'; true"
        try GeneratedSourcesTests.run(["/bin/sh", "-c", command])
        return try String(contentsOfFile: log, encoding: .utf8)
    }

    private static func method(_ rule: String, _ types: String = "(In) returns (In)") -> String {
        "rpc M\(types) { option (google.api.http) = { \(rule) }; }"
    }

    @Test(arguments: [
        (#"get: "/v1/{b}""#, "test.In has no field b"), (#"get: "/v1/{many}""#, "the path has the repeated field many"),
        (#"get: "/v1/{inner}""#, "the path has the message inner"), (#"get: "/v1/{a.a}""#, "a of a.a is not a message"),
        (#"get: "/v1/**/x""#, "the path template /v1/**/x is malformed: byte 7: ** must be the last segment"),
        (#"get: "v1""#, "the path template v1 is malformed: byte 0: expected /"),
        (#"body: "*""#, "the HTTP rule has no path"),
        (#"get: "/v1" body: "*""#, "GET cannot have a body"),
        (#"delete: "/v1" body: "inner""#, "DELETE cannot have a body"),
        (#"post: "/v1" body: "b""#, "test.In has no field b"),
        (#"post: "/v1" body: "a""#, "the body a is not a single message"),
        (#"get: "/v1" response_body: "b""#, "test.In has no field b"),
        (#"custom { kind: "head" path: "/v1" }"#, "the HTTP method 'head' is not in capital letters"),
        (
            #"get: "/v1" additional_bindings { get: "/v2" additional_bindings { get: "/v3" } }"#,
            "an additional binding cannot have additional bindings"
        ),
        (#"get: "/v1/{a}" additional_bindings { get: "/v1/{inner.a}" }"#, "two methods have the route GET /v1/*"),
    ])
    func wrongRuleIsRefused(rule: String, explanation: String) throws {
        let output = try Self.output(of: Self.method(rule))
        #expect(output.contains("rules.proto") && output.contains(explanation), "\(output)")
    }

    @Test func streamOfAClientNeedsABodyOfBytes() throws {
        let explanation = "a client's stream has an HTTP route only where its body is google.api.HttpBody"
        for rule in [#"post: "/v1" body: "*""#, #"post: "/v1""#, #"post: "/v1" body: "inner""#] {
            #expect(try Self.output(of: Self.method(rule, "(stream In) returns (In)")).contains(explanation))
        }
        let both = try Self.output(of: Self.method(#"post: "/v1" body: "body""#, "(stream In) returns (stream In)"))
        #expect(both.contains(explanation))
        let fine = try Self.output(of: Self.method(#"post: "/v1" body: "body""#, "(stream In) returns (In)"))
        #expect(!fine.contains("--gateway_out:"))
    }

    @Test(arguments: [
        ("status: 404", "(In) returns (In)", "the status of http_response must be 0 or 200 to 299"),
        (#"content_types: "text/html""#, "(In) returns (In)", "only where the response is google.api.HttpBody"),
        ("takes_ranges: true", "(In) returns (In)", "only where the response is google.api.HttpBody"),
        (
            #"content_types: "a b""#, "(In) returns (google.api.HttpBody)",
            "a content type of http_response is malformed"
        ),
    ])
    func wrongFormOfResponsesIsRefused(form: String, types: String, explanation: String) throws {
        let options =
            #"option (google.api.http) = { get: "/v1" }; "#
            + "option (archebase.http.v1.http_response) = { \(form) };"
        let output = try Self.output(of: "rpc M\(types) { \(options) }")
        #expect(output.contains("S.M: ") && output.contains(explanation), "\(output)")
    }

    @Test func statusOfAStyleIsHTTPs() throws {
        let style = "option (archebase.http.v1.http_style) = { failure_status: 99 };"
        #expect(try Self.output(of: style).contains("failure_status must be 0 or an HTTP status"))
    }
}
