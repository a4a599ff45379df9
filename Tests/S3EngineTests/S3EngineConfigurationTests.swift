import Basics
import Foundation
import HTTPClient
import StoreClient
import StoreProtocol
import TestSupport
import Testing

@testable import S3Engine
@testable import Settings

@Suite(.timeLimited) struct S3EngineConfigurationTests {
    private static let required = "engine: \"s3\", endpoint: \"https://store.example.com\", bucket: \"robots\""

    private func read(
        _ members: String, variables: [String: String] = [:]
    ) throws -> (settings: ObjectEngineSettings, reader: SettingsReader) {
        let folder = try TestFolder(inMemory: true)
        let path = folder.path + "/gateway.json5"
        try "{ objects: { \(members) } }".write(toFile: path, atomically: true, encoding: .utf8)
        let reader = try SettingsReader(path: path, variables: variables)
        let settings = ObjectEngineSettings(reader)
        reader.finish()
        return (settings, reader)
    }

    private func faults(_ members: String) throws -> [String] {
        try read(members).reader.faults.map(\.description)
    }

    private func accepted(_ members: String) throws -> S3EngineConfiguration {
        let (settings, reader) = try read(members)
        #expect(reader.faults.isEmpty)
        return try #require(settings.s3)
    }

    @Test func directoryIsTheDefault() throws {
        let (settings, reader) = try read("")
        #expect(settings.kind == .directory && settings.s3 == nil)
        #expect(reader.faults.isEmpty)
    }

    @Test func previousEngineIsTheOtherOne() throws {
        let (settings, reader) = try read(
            "engine: \"directory\", previous_engine: \"s3\", endpoint: \"https://store.example.com\", bucket: \"robots\""
        )
        #expect(reader.faults.isEmpty)
        #expect(settings.kind == .directory && settings.previous == .s3 && settings.s3 != nil)
        #expect(try accepted(Self.required + ", previous_engine: \"directory\"").bucket.name == "robots")
        #expect(
            try faults("previous_engine: \"directory\"")
                == ["objects.previous_engine must be another engine than objects.engine: remove it"])
        #expect(
            try faults("previous_engine: \"tape\"") == [
                "objects.previous_engine must be none, directory or s3, not tape"
            ])
    }

    @Test func everyKeyIsRead() throws {
        let keys = try Set(read("").reader.settings.map(\.key))
        #expect(keys == Set((["engine", "previous_engine"] + S3EngineConfiguration.keys).map { "objects.\($0)" }))
    }

    @Test func minimalSettingsHaveTheirDefaults() throws {
        let s3 = try accepted(Self.required)
        #expect(s3.bucket.region == "us-east-1" && s3.bucket.style == .path && s3.bucket.name == "robots")
        #expect(s3.prefix.isEmpty && s3.credentials == .automatic && s3.encryption == nil && s3.storageClass == nil)
        #expect(s3.spool.below == 65_536 && s3.spool.bytes == 1 << 30 && s3.removalDelay == .hours(1))
        #expect(s3.limits == S3EngineConfiguration.Limits())
        #expect(s3.name == "https://store.example.com/robots/")
    }

    @Test func allSettingsAreRead() throws {
        let s3 = try accepted(
            Self.required + """
                , region: "eu-1", prefix: "/site/a/", path_style: false, authorities: "/ca.pem", storage_class: "STANDARD_IA",
                encryption: "kms", kms_key: "arn:aws:kms:k", credentials_file: "/etc/keys", profile: "robot",
                connect_timeout: 3, idle_timeout: 40, retry_budget: 0, max_connections: 20, spool_below: 0,
                spool_bytes: 16777216, removal_delay: 0
                """)
        #expect(s3.bucket.region == "eu-1" && s3.bucket.style == .virtualHost && s3.prefix == "site/a/")
        #expect(s3.authorities == "/ca.pem" && s3.storageClass == "STANDARD_IA")
        #expect(s3.encryption == .keyManagement(keyID: "arn:aws:kms:k"))
        #expect(s3.credentials == .file(path: "/etc/keys", profile: "robot"))
        #expect(s3.connectionOptions.connectTimeout == .seconds(3) && s3.connectionOptions.stallTimeout == .seconds(40))
        #expect(s3.connectionOptions.maximumExchanges == 20 && s3.connectionOptions.authorities == "/ca.pem")
        #expect(s3.retryPolicy.delay(failures: 1, elapsed: .zero, least: nil, random: 0) == nil)
        #expect(s3.spool.below == 0 && s3.spool.bytes == 16 << 20 && s3.removalDelay == .zero)
        #expect(s3.properties.encryption == s3.encryption && s3.properties.storageClass == "STANDARD_IA")
    }

    @Test(arguments: [
        ("auto", CredentialOrigin.automatic), ("environment", .environment), ("web_identity", .webIdentity),
        ("container", .container), ("instance", .instance),
    ])
    func credentialsHaveTheirOrigin(word: String, origin: CredentialOrigin) throws {
        #expect(try accepted(Self.required + ", credentials: \"\(word)\"").credentials == origin)
    }

    @Test(arguments: [("a", "a/"), ("/a/b//", "a/b/"), ("/", ""), ("", ""), ("ü", "ü/")])
    func prefixHasASlashAtItsEnd(text: String, prefix: String) throws {
        #expect(try accepted(Self.required + ", prefix: \"\(text)\"").prefix == prefix)
    }

    @Test(arguments: ["..", "a/../b", "a/./b", "a//b", "a\\\\b", "a\\u0007b", String(repeating: "p", count: 512)])
    func invalidPrefixIsRefused(text: String) throws {
        let faults = try faults(Self.required + ", prefix: \"\(text)\"")
        #expect(faults.count == 1 && faults.first?.hasPrefix("objects.prefix must be at most 512 bytes") == true)
    }

    @Test(arguments: S3EngineConfiguration.keys)
    func settingsOfS3AreRefusedForTheDirectory(key: String) throws {
        // Whether or not the value is valid.
        for value in ["7", "true", "\"a\""] {
            #expect(
                try faults("engine: \"directory\", \(key): \(value)").contains(
                    "objects.\(key) is only for objects.engine \"s3\": remove it, or set the engine"))
        }
    }

    @Test(arguments: [
        (
            "engine: \"s3\"",
            [
                "objects.endpoint is required for objects.engine \"s3\"",
                "objects.bucket is required for objects.engine \"s3\"",
            ]
        ),
        (
            required + ", storage_class: \"GLACIER\"",
            ["objects.storage_class must be a class whose objects are read at once, not GLACIER"]
        ),
        (required + ", storage_class: \"A B\"", ["objects.storage_class must be 1 to 64 letters, digits, - or _"]),
        (required + ", region: \"a/b\"", ["objects.region must be 1 to 64 letters, digits, - or _"]),
        (required + ", kms_key: \"k\"", ["objects.kms_key is only for objects.encryption \"kms\""]),
        (
            required + ", credentials: \"file\"",
            ["objects.credentials_file is required for objects.credentials \"file\""]
        ),
        (required + ", credentials_file: \"keys\"", ["objects.credentials_file must be an absolute path"]),
        (
            required + ", credentials: \"instance\", credentials_file: \"/keys\"",
            ["objects.credentials_file is only for objects.credentials \"file\""]
        ),
        (required + ", profile: \"p\"", ["objects.profile is only for objects.credentials_file"]),
        (
            required + ", sts_endpoint: \"http://h\"",
            ["objects.sts_endpoint is only for objects.credentials \"web_identity\""]
        ),
        (
            "engine: \"s3\", endpoint: \"http://h\", bucket: \"robots\", authorities: \"/ca\"",
            ["objects.authorities is only for an https endpoint"]
        ),
        (
            "engine: \"s3\", endpoint: \"http://192.0.2.1\", bucket: \"robots\", path_style: false",
            ["objects.path_style must be true: a bucket's name cannot be in front of an address"]
        ),
        (
            "engine: \"s3\", endpoint: \"https://h.example\", bucket: \"a.b.c\", path_style: false",
            ["objects.path_style must be true: no certificate is for the host of a bucket with dots"]
        ),
        (
            required + ", max_connections: 1",
            ["objects.max_connections must be a whole number of connections, 8 to 10000"]
        ),
        (required + ", bukket: \"x\"", ["unknown key objects.bukket; did you mean objects.bucket?"]),
    ])
    func faultNamesTheKeyAndTheRule(members: String, expected: [String]) throws {
        #expect(try faults(members) == expected)
    }

    @Test func variablesSetTheKeys() throws {
        let variables = [
            "DATA_GATEWAY_OBJECTS__ENGINE": "s3", "DATA_GATEWAY_OBJECTS__ENDPOINT": "http://h",
            "DATA_GATEWAY_OBJECTS__BUCKET": "robots", "DATA_GATEWAY_OBJECTS__SPOOL_BELOW": "7",
        ]
        let (settings, reader) = try read("", variables: variables)
        #expect(reader.faults.isEmpty)
        #expect(settings.s3?.spool.below == 7)
    }

    @Test func credentialsAreNotShown() async throws {
        let s3 = try accepted(Self.required)
        let names = ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "hidden-secret"]
        let source = try s3.credentialSource(clock: SystemClock()) { names[$0] }
        let credentials = try await source.current()
        #expect(credentials.accessKeyID == "id")
        var text = ""
        dump(source, to: &text)
        dump(credentials, to: &text)
        dump(s3, to: &text)
        #expect(!text.contains("hidden-secret"))
    }
}
