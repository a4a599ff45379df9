import Accounts
import Basics
import Capability
import Catalog
import Commands
import Console
import Crypto
import DirectoryEngine
import Foundation
import HTTPTypes
import ObjectStore
import RPC
import Serve
import StoreProtocol
import TestSupport
import Testing
import Uploads
import Webhooks

@testable import Configuration
@testable import CopyJobs
@testable import Serve
@testable import Settings

@Suite(.timeLimited) struct ConfigurationTests {
    private func read(
        _ json5: String, listen: [String: String] = [:], variables: [String: String] = [:]
    ) throws -> Configuration {
        let path = NSTemporaryDirectory() + "configuration-\(UUID().uuidString).json5"
        try json5.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try Configuration(
            ServeOptions(configurationPath: path, listen: listen), apps: Program.apps, variables: variables)
    }

    private func refusal(
        _ json5: String, listen: [String: String] = [:], variables: [String: String] = [:]
    ) -> String {
        do {
            _ = try read(json5, listen: listen, variables: variables)
            return "accepted"
        } catch {
            return "\(error)"
        }
    }

    @Test func nothingIsNeeded() throws {
        let configuration = try Configuration(ServeOptions(), apps: Program.apps)
        #expect(configuration[UploadsConfiguration.self].partSize == 67_108_864)
        #expect(configuration.address(.gateway).description == "127.0.0.1:50053")
    }

    /// A configuration is read at each reload.
    @Test func settingsEndWithTheirConfiguration() throws {
        weak var quota: Live<QuotaConfiguration>?
        weak var rate: Live<Int64>?
        func read() throws {
            let configuration = try self.read("{quota: {device_uploads: 5}, scrub: {bytes_per_second: 7}}")
            quota = configuration[UploadsConfiguration.self].quota
            rate = configuration[CatalogConfiguration.self].scrubRate
            #expect(quota?.value.device.uploads == 5 && rate?.value == 7)
        }
        try read()
        #expect(quota == nil && rate == nil)
    }

    @Test func loopbackListenersAreCleartextUnlessNamed() throws {
        let open =
            "listeners: {auth: '192.0.2.7:50051', gateway: '[::]:50053', web: 'localhost:50070', admin: '[::1]:1'}"
        let tls = "certificate: 'a', key: 'b'"
        let configuration = try read("{\(open), tls: {\(tls)}}")
        #expect(configuration.tls?.listeners == [.auth, .gateway])
        let named = try read("{\(open.dropLast()), allow_cleartext: true}, tls: {\(tls), listeners: ['web', 'auth']}}")
        #expect(named.tls?.listeners == [.auth, .web])
    }

    @Test func objectStoreReadsItsDiskSettings() throws {
        let standard = try Configuration(ServeOptions(), apps: Program.apps)[StoreConfiguration.self]
        #expect(standard.objects.minimumFreeBytes == 1 << 30)
        #expect(standard.files.directIO == .probe)
        let configured = try read("{object_store: {min_free_bytes: 0, direct_io: false}}")[StoreConfiguration.self]
        #expect(configured.objects.minimumFreeBytes == 0)
        #expect(configured.files.directIO == .off)
    }

    @Test func auditLogHasItsConfiguredLength() throws {
        let standard = try Configuration(ServeOptions(), apps: Program.apps)[AccountsConfiguration.self]
        #expect((standard.auditRetention, standard.auditLines) == (.seconds(400 * 86_400), 10_000_000))
        let configured = try read("{audit: {retention_days: 30, max_lines: 1000}}")[AccountsConfiguration.self]
        #expect((configured.auditRetention, configured.auditLines) == (.seconds(30 * 86_400), 1000))
        #expect(refusal("{audit: {max_lines: 999}}").contains("audit.max_lines must be a whole number of lines, 1000"))
    }

    @Test(arguments: ["127.0.0.1", "127.255.0.9", "[::1]", "localhost"])
    func loopbackWebListenerHasAConsole(host: String) throws {
        #expect(try read("{listeners: {web: \"\(host):1\"}}")[ConsoleConfiguration.self].isEnabled)
    }

    /// A name may resolve to any address, whatever it begins with.
    @Test(arguments: ["127.example.com", "127.0.0.1.example.com", "192.0.2.1", "0.0.0.0", "[::]", "localhost.example"])
    func exposedWebListenerHasAConsoleOnlyOnRequest(host: String) throws {
        let listener = "listeners: {web: \"\(host):1\""
        #expect(refusal("{\(listener)}}").contains("reachable from other machines"))
        #expect(try !read("{\(listener), allow_cleartext: true}}")[ConsoleConfiguration.self].isEnabled)
        #expect(
            try read("{\(listener), allow_cleartext: true}, console: {enabled: true}}")[ConsoleConfiguration.self]
                .isEnabled)
    }

    @Test func theInternalListenerIsOffUnlessItIsNamed() throws {
        #expect(
            try Configuration(ServeOptions(dataDirectory: ""), apps: Program.apps).listeners[.internalStorage] == nil)
        #expect(try read("{listeners: {internal: \"off\"}}").listeners[.internalStorage] == nil)
        let named = try read("{listeners: {internal: \"127.0.0.1:1\"}, internal: {max_read_bytes: 7}}")
        #expect(named.address(.internalStorage).port == 1)
        #expect(named[InternalStorageConfiguration.self].maximumReadBytes == 7)
        #expect(refusal("{listeners: {auth: \"of\"}}").contains("HOST:PORT"))
        #expect(refusal("{listeners: {internal: \"192.0.2.1:1\"}}").contains("reachable from other machines"))
        #expect(refusal("{internal: {client_authorities: \"ca.pem\"}}").contains("requires TLS"))
    }

    @Test func webhookIsReadAndItsSecretIsNotShown() throws {
        let folder = try TestFolder()
        try "0123456789abcdef".write(toFile: folder.path + "/secret", atomically: true, encoding: .utf8)
        func one(_ members: String) -> String { "{webhooks: {crm: {\(members)}}}" }
        let (url, secret) = ("url: \"https://h/x?y=1\"", "secret_file: \"\(folder.path)/secret\"")
        let events = try read(one("\(url), \(secret), events: [\"upload.aborted\"], organization: \"acme\""))[
            WebhooksConfiguration.self]
        let webhook = try #require(events.webhooks.first)
        #expect((webhook.name, webhook.url, webhook.organization) == ("crm", "https://h/x?y=1", "acme"))
        #expect(webhook.types == [.uploadAborted])
        #expect(webhook.keys.map(\.exposedText) == ["0123456789abcdef"])
        #expect(!"\(events)".contains("0123456789abcdef"))
        for (wrong, named) in [
            (one(secret), "webhooks.crm.url"),
            (one("url: \"ftp://h/\", \(secret)"), "webhooks.crm.url"),
            (one("url: \"http://u:p@h/\", \(secret)"), "webhooks.crm.url"),
            (one("url: \"http:///x\", \(secret)"), "webhooks.crm.url"),
            (one(url), "secret_file or secret_env"),
            (one("\(url), \(secret), secret_env: \"X\""), "secret_file or secret_env"),
            (
                one("\(url), secret_env: \"NOT_SET_ANYWHERE\""),
                "webhooks.crm.secret_env must hold 1 to 4 lines, each with at least 16 bytes, or whsec_ and at least 16 bytes in base64"
                    + " (NOT_SET_ANYWHERE)"
            ),
            (
                one("\(url), secret_file: \"/nowhere/secret\""),
                "webhooks.crm.secret_file cannot be read: /nowhere/secret: No such file or directory"
            ),
            (one("\(url), \(secret), events: [\"object.gone\"]"), "object.verified, upload.aborted"),
            (one("\(url), \(secret), ulr: \"x\""), "did you mean webhooks.crm.url"),
            ("{webhooks: {CRM: {\(url), \(secret)}}}", "a-z, 0-9"),
            ("{webhooks: {crm: 5}}", "webhooks.crm must be a section"),
            ("{events: {give_up_seconds: 0}}", "events.give_up_seconds"),
        ] {
            #expect(refusal(wrong).contains(named), "\(wrong)")
        }
        let many = (0...16).map { "h\($0): {\(url), \(secret)}" }.joined(separator: ", ")
        #expect(refusal("{webhooks: {\(many)}}").contains("at most 16"))
    }

    /// Runs in a process of its own, because simultaneous tests share the environment.
    @Test func webhookSecretIsReadFromTheEnvironment() async {
        await #expect(processExitsWith: .success) {
            setenv("WEBHOOK_TEST_SECRET", "0123456789abcdef", 1)
            let configured = try ConfigurationTests().read(
                "{webhooks: {crm: {url: \"https://h/\", secret_env: \"WEBHOOK_TEST_SECRET\"}}}")
            let secrets = configured[WebhooksConfiguration.self].webhooks.flatMap { $0.keys.map(\.exposedText) }
            try #require(secrets == ["0123456789abcdef"])
        }
    }

    @Test func theConsoleIsOnLoopbackUnlessItIsSaid() throws {
        let elsewhere = #"listeners: {web: "192.0.2.1:1", allow_cleartext: true}"#
        #expect(
            try Configuration(ServeOptions(dataDirectory: ""), apps: Program.apps)[ConsoleConfiguration.self].isEnabled)
        #expect(try !read("{console: {enabled: false}}")[ConsoleConfiguration.self].isEnabled)
        #expect(try !read("{\(elsewhere)}")[ConsoleConfiguration.self].isEnabled)
        #expect(try !read("{\(elsewhere), console: {session_idle_seconds: 60}}")[ConsoleConfiguration.self].isEnabled)
        let enabled = "console: {enabled: true, session_idle_seconds: 60}"
        let console = try read("{\(elsewhere), \(enabled)}")[ConsoleConfiguration.self]
        #expect(console.isEnabled)
        #expect(console.sessionIdle == .seconds(60))
        #expect(console.sessionTotal == .seconds(43_200))
        #expect(refusal("{console: {session_idle_seconds: 59}}").contains("60 to 86400"))
    }

    @Test func commentsAndTrailingCommasAreAccepted() throws {
        let configuration = try read(
            """
            {
                // small parts
                uploads: { part_size_bytes: 65536, },
                listeners: { auth: "127.0.0.1:1", gateway: "[::1]:2" },
            }
            """, listen: ["auth": "127.0.0.2:3"])
        #expect(configuration[UploadsConfiguration.self].partSize == 65_536)
        #expect(configuration.address(.auth).description == "127.0.0.2:3")
        #expect(configuration.address(.gateway).description == "[::1]:2")
    }

    @Test(arguments: [
        ("{uploads: {part_size_bytes: 65537}}", "uploads.part_size_bytes must be a multiple of 4096"),
        ("{uploads: {part_size_bytes: 4096}}", "uploads.part_size_bytes must be a whole number of bytes, 65536 to"),
        ("{uploads: {part_size_bytes: 65536.5}}", "must be a whole number"),
        ("{uploads: {part_size_bytes: \"65536\"}}", "must be a whole number"),
        (
            "{uploads: {part_size_byte: 65536}}",
            "unknown key uploads.part_size_byte; did you mean uploads.part_size_bytes?"
        ),
        ("{rpc: {cors_origins: ['https://app.example/']}}", "rpc.cors_origins must hold origins"),
        ("{rpc: {cors_origins: ['app.example']}}", "rpc.cors_origins must hold origins"),
        ("{rpc: {cors_max_age_seconds: -1}}", "rpc.cors_max_age_seconds must be a whole number of seconds, 0 to"),
        ("{web: {max_connections: 0}}", "web.max_connections must be a whole number of connections, 1 to"),
        ("{web: {body_timeout_seconds: 0}}", "web.body_timeout_seconds must be a whole number of seconds, 1 to"),
        ("{rpc: {trusted_proxies: '10.0.0.1'}}", "rpc.trusted_proxies must be a list of addresses"),
        ("{rpc: {trusted_proxies: ['10.0.0.1/8']}}", "rpc.trusted_proxies must hold addresses and blocks"),
        ("{device_init: {reinit_allow: [1]}}", "device_init.reinit_allow must hold addresses and blocks"),
        ("{device_init: {reinit: 'never'}}", "device_init.reinit must be open or window, not never"),
        ("{object_store: {bucket: 'A'}}", "object_store.bucket must be"),
        ("{object_store: {min_free_bytes: -1}}", "object_store.min_free_bytes must be a whole number of bytes, 0 to"),
        ("{object_store: {public_endpoint: 'store:80'}}", "object_store.public_endpoint: "),
        ("{object_store: {static_keys: {}}}", "object_store.static_keys must be a list of objects"),
        ("{object_store: {static_keys: [{}]}}", "object_store.static_keys[0].id is missing"),
        (
            "{object_store: {static_keys: [{id: 'a:b'}]}}",
            "object_store.static_keys[0] must have either secret_file or secret_env"
        ),
        (
            "{object_store: {static_keys: [{id: 'tools', secret_env: 'NO_SUCH_VARIABLE'}]}}",
            "object_store.static_keys[0].secret_env must hold a secret of at least 16 bytes (NO_SUCH_VARIABLE)"
        ),
        ("{copy: {destinations: ['/srv']}}", "copy.destinations[0] must be an object"),
        ("{copy: {destinations: [{kind: 'ftp'}]}}", "copy.destinations[0].kind must be one of directory, oss, s3"),
        (
            "{copy: {destinations: [{kind: 'directory', root: 'srv'}]}}",
            "copy.destinations[0].root must be an absolute path"
        ),
        (
            "{copy: {destinations: [{kind: 'directory', root: '/srv', rot: 1}]}}",
            "unknown key copy.destinations[0].rot; did you mean root?"
        ),
        (
            "{copy: {destinations: [{kind: 's3', endpoint: 's3.example.com'}]}}",
            "copy.destinations[0].endpoint is not valid: an object-store endpoint must begin with http://"
        ),
        ("{copy: {workers: 0}}", "copy.workers must be a whole number of items, 1 to"),
        ("{listeners: {auth: '127.0.0.1'}}", "listeners.auth must be HOST:PORT"),
        ("{listeners: {allow_cleartext: 1}}", "listeners.allow_cleartext must be true or false"),
        ("[]", "the configuration must be one object"),
        ("{\n  uploads: {\n    part_size_bytes: }\n}", ".json5, line 3, column 22: expected a value"),
    ])
    func malformedConfigurationIsRefused(json5: String, says: String) {
        #expect(refusal(json5).contains(says))
    }

    @Test func copyDestinationsAndStaticKeysAreRead() throws {
        let secret = NSTemporaryDirectory() + "secret-\(UUID().uuidString)"
        try "0123456789abcdef\n".write(toFile: secret, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: secret) }
        let key = "id: 'tools', secret_file: '\(secret)', access: 'write'"
        let configuration = try read(
            """
            {
                object_store: { static_keys: [{ \(key), prefix: "tools/" }] },
                copy: { retention_days: 2, destinations: [
                    { kind: "directory", root: "/srv/copies" },
                    { kind: "s3", endpoint: "https://s3.example.com", bucket: "cold", access_key_id: "AK",
                      secret_file: "\(secret)" },
                ] },
            }
            """)
        #expect(configuration[StoreConfiguration.self].objects.staticKeys.map(\.prefix) == ["tools/"])
        #expect(
            configuration[StoreConfiguration.self].objects.staticKeys.first?.secret.exposedText == "0123456789abcdef")
        #expect(configuration[CopyJobsConfiguration.self].retention == .seconds(172_800))
        #expect(configuration[CopyJobsConfiguration.self].destinations.count == 2)
        let bucket = try #require(configuration[CopyJobsConfiguration.self].destinations.last?.place as? BucketTarget)
        #expect(bucket.location.region == "us-east-1" && bucket.partSize == 67_108_864 && bucket.dialect == .s3)
        #expect(
            refusal("{object_store: {static_keys: [{\(key)}, {\(key)}]}}").contains(
                "must be unique, but another key has the same"))
        #expect(refusal("{object_store: {static_keys: [{\(key), prefix: 'uploads/x'}]}}").contains("below uploads/"))
        #expect(refusal("{object_store: {static_keys: [{\(key), prefix: '/x'}]}}").contains("prefix must be"))
        #expect(
            refusal("{object_store: {static_keys: [{\(key), secret_env: 'HOME'}]}}").contains(
                "either secret_file or secret_env"))
    }

    @Test func variablesGoBeforeTheFileAndOptionsBeforeBoth() throws {
        let variables = [
            "DATA_GATEWAY_UPLOADS__PART_SIZE_BYTES": "65536", "DATA_GATEWAY_LISTENERS__AUTH": "127.0.0.1:2",
            "DATA_GATEWAY_LISTENERS__WEB": "127.0.0.1:4", "DATA_GATEWAY_LISTENERS__REFLECTION": "true",
            "DATA_GATEWAY_RPC__CORS_ORIGINS": "https://a.example, https://b.example",
            "DATA_GATEWAY_SCRUB__INTERVAL": "",
            "DATA_GATEWAY_ADMIN": "127.0.0.1:9", "DATA_GATEWAY_SERVICE_PORT": "1", "OTHER__KEY": "1",
        ]
        let configuration = try read(
            "{uploads: {part_size_bytes: 131072}, scrub: {interval_seconds: 7}}", listen: ["auth": "127.0.0.1:3"],
            variables: variables)
        #expect(configuration[UploadsConfiguration.self].partSize == 65_536)
        #expect(configuration.address(.auth).port == 3)
        #expect(configuration.address(.web).port == 4)
        #expect(configuration.reflection == true)
        #expect(configuration.crossOrigin?.origins == ["https://a.example", "https://b.example"])
        let sources = configuration.settings.filter { $0.source != .standard }.map { "\($0.key) \($0.source)" }
        #expect(
            sources == [
                "listeners.auth option --auth-listen", "listeners.web environment DATA_GATEWAY_LISTENERS__WEB",
                "rpc.cors_origins environment DATA_GATEWAY_RPC__CORS_ORIGINS",
                "listeners.reflection environment DATA_GATEWAY_LISTENERS__REFLECTION", "scrub.interval_seconds file",
                "uploads.part_size_bytes environment DATA_GATEWAY_UPLOADS__PART_SIZE_BYTES",
            ])
    }

    @Test(arguments: [
        (
            "UPLOADS__PART_SIZE_BYTE", "1",
            "unknown environment variable DATA_GATEWAY_UPLOADS__PART_SIZE_BYTE; did you mean DATA_GATEWAY_UPLOADS__PART_SIZE_BYTES?"
        ),
        (
            "uploads__part_size_bytes", "65536",
            "the environment variable DATA_GATEWAY_uploads__part_size_bytes must be named DATA_GATEWAY_UPLOADS__PART_SIZE_BYTES"
        ),
        (
            "UPLOADS__PART_SIZE_BYTES", "64k",
            "uploads.part_size_bytes must be a whole number of bytes, 65536 to 5368709120"
                + " (DATA_GATEWAY_UPLOADS__PART_SIZE_BYTES)"
        ),
        ("LISTENERS__REFLECTION", "yes", "listeners.reflection must be true or false (DATA_GATEWAY_"),
        ("TLS__LISTENERS", "auth,ops", "tls.listeners may name auth, "),
    ])
    func malformedVariablesAreRefused(variable: String, value: String, says: String) {
        let tls = "{tls: {certificate: 'a', key: 'b'}}"
        #expect(refusal(tls, variables: ["DATA_GATEWAY_\(variable)": value]).contains(says))
    }

    @Test func secretsAreMaskedWhereTheyAreShown() throws {
        let value = ConfigurationValue.list([
            .object(["id": .text("tool"), "secret": .text("hush"), "access_key_secret": .text("hush")]),
            .object(["secret_file": .text("/etc/tool"), "secret_env": .text("TOOL"), "Secret_File_2": .text("hush")]),
        ])
        #expect(
            value.shown == """
                {access_key_secret: ***, id: tool, secret: ***}, \
                {Secret_File_2: ***, secret_env: TOOL, secret_file: /etc/tool}
                """)
        #expect(ConfigurationValue.text("https://hook.example/a?token=hush").shown == "https://hook.example/a?***")
    }

    @Test func offLoopbackEverythingIsSaidInSoManyWords() {
        #expect(refusal("{}", listen: ["auth": "0.0.0.0:1"]).contains("allow_cleartext"))
        let allow = "listeners: {allow_cleartext: true}"
        #expect(refusal("{\(allow)}", listen: ["device-init": "192.0.2.1:1"]).contains("device_init.reinit"))
        #expect(refusal("{\(allow)}", listen: ["object-store": "0.0.0.0:1"]).contains("object_store.public_endpoint"))
        #expect(refusal("{\(allow)}", listen: ["auth": "0.0.0.0:1"]) == "accepted")
    }
}
