import Foundation
import Testing

@testable import GatewayServer

@Suite struct ConfigurationTests {
    private func read(_ json5: String, listen: [String: String] = [:]) throws -> Configuration {
        let path = NSTemporaryDirectory() + "configuration-\(UUID().uuidString).json5"
        try json5.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try Configuration(ServeOptions(dataDirectory: "", configurationPath: path, listen: listen))
    }

    private func refusal(_ json5: String, listen: [String: String] = [:]) -> String {
        do {
            _ = try read(json5, listen: listen)
            return "accepted"
        } catch {
            return "\(error)"
        }
    }

    @Test func nothingIsNeeded() throws {
        let configuration = try Configuration(ServeOptions(dataDirectory: ""))
        #expect(configuration.uploads.partSize == 67_108_864)
        #expect(configuration.address(.gateway).description == "127.0.0.1:50053")
    }

    @Test func theStoreOnItsDisk() throws {
        let standard = try Configuration(ServeOptions(dataDirectory: "")).store
        #expect(standard.minimumFreeBytes == 1 << 30)
        #expect(standard.directIO == .probe)
        let configured = try read("{object_store: {min_free_bytes: 0, direct_io: false}}").store
        #expect(configured.minimumFreeBytes == 0)
        #expect(configured.directIO == .off)
    }

    @Test func howLongTheAuditLogIs() throws {
        let standard = try Configuration(ServeOptions(dataDirectory: "")).accounts
        #expect((standard.auditDays, standard.auditLines) == (400, 10_000_000))
        let configured = try read("{audit: {retention_days: 30, max_lines: 1000}}").accounts
        #expect((configured.auditDays, configured.auditLines) == (30, 1000))
        #expect(refusal("{audit: {max_lines: 999}}").contains("audit.max_lines must be a whole number of lines, 1000"))
    }

    @Test func commentsAndTrailingCommas() throws {
        let configuration = try read(
            """
            {
                // small parts
                uploads: { part_size_bytes: 65536, },
                listeners: { auth: "127.0.0.1:1", gateway: "[::1]:2" },
            }
            """, listen: ["auth": "127.0.0.2:3"])
        #expect(configuration.uploads.partSize == 65_536)
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
            "there is no key uploads.part_size_byte; did you mean uploads.part_size_bytes?"
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
        ("{listeners: {auth: '127.0.0.1'}}", "the auth listener must be HOST:PORT"),
        ("{listeners: {allow_cleartext: 1}}", "listeners.allow_cleartext must be true or false"),
        ("[]", "must be one object"),
        ("{", "not readable as JSON5"),
    ])
    func refusals(json5: String, says: String) {
        #expect(refusal(json5).contains(says))
    }

    @Test func offLoopbackEverythingIsSaidInSoManyWords() {
        #expect(refusal("{}", listen: ["auth": "0.0.0.0:1"]).contains("allow_cleartext"))
        let allow = "listeners: {allow_cleartext: true}"
        #expect(refusal("{\(allow)}", listen: ["device-init": "192.0.2.1:1"]).contains("device_init.reinit"))
        #expect(refusal("{\(allow)}", listen: ["object-store": "0.0.0.0:1"]).contains("object_store.public_endpoint"))
        #expect(refusal("{\(allow)}", listen: ["auth": "0.0.0.0:1"]) == "accepted")
    }
}
