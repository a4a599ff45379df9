import Basics
import Capability
import Commands
import Foundation
import HTTPTypes
import ObjectStore
import TestSupport
import Testing

@testable import Configuration
@testable import Serve
@testable import Settings

/// The settings of several gateways with one database and one bucket.
@Suite(.timeLimited) struct ReplicasConfigurationTests {
    private static let complete = """
        replicas: {enabled: true},
        database: {url: 'postgresql://gateway@a.example/objects', root_key_file: '/r'},
        objects: {engine: 's3', endpoint: 'https://s3.example.com', bucket: 'robots', credentials_file: '/c'},
        rpc: {trusted_proxies: ['192.0.2.1']},
        object_store: {public_endpoint: 'http://robots.example.com'},
        listeners: {public: {
            auth: 'https://robots.example.com', gateway: 'https://robots.example.com:50053',
            admin: 'http://[2001:db8::1]:50054/', device_init: 'http://192.0.2.1'
        }}
        """

    private func read(_ settings: String) throws -> (Configuration, [String]) {
        let folder = try TestFolder()
        let path = folder.path + "/gateway.json5"
        try "{\(settings)}".write(toFile: path, atomically: true, encoding: .utf8)
        let reader = try SettingsReader(path: path)
        let configuration = Configuration(reader, apps: Program.apps)
        return (configuration, reader.faults.map(\.description))
    }

    @Test func completeSettingsAreAccepted() throws {
        let (configuration, faults) = try read(Self.complete)
        #expect(faults == [])
        #expect(configuration.hasReplicas && configuration[StoreConfiguration.self].objects.hasReplicas)
        func announced(_ name: ListenerName) -> PublicAddresses.Address {
            configuration.publicAddresses.address(of: name, own: .unknown, isSecure: false)
        }
        #expect(announced(.auth) == .init(peer: PeerAddress(host: "robots.example.com", port: 443), isSecure: true))
        #expect(
            announced(.gateway) == .init(peer: PeerAddress(host: "robots.example.com", port: 50053), isSecure: true))
        #expect(announced(.admin) == .init(peer: PeerAddress(host: "2001:db8::1", port: 50054), isSecure: false))
        #expect(announced(.deviceInit) == .init(peer: PeerAddress(host: "192.0.2.1", port: 80), isSecure: false))
    }

    @Test func faultNamesEachSettingThatIsMissing() throws {
        let (_, faults) = try read("replicas: {enabled: true}")
        let fault = try #require(faults.first)
        #expect(faults.count == 1 && fault.hasPrefix("replicas.enabled is true, and replicas need "))
        for name in [
            "database.url", "database.root_key_file", "objects.engine", "rpc.trusted_proxies",
            "listeners.public.auth, listeners.public.gateway, listeners.public.admin, listeners.public.device_init",
            "object_store.public_endpoint",
        ] { #expect(fault.contains(name), "\(name)") }
    }

    @Test(arguments: [
        "robots.example.com:50051", "https://robots.example.com/path", "ftp://a", "https://a:0", "https://u@a",
    ])
    func publicAddressIsAURLWithoutAPath(text: String) throws {
        let (_, faults) = try read("listeners: {public: {auth: '\(text)'}}")
        #expect(faults == ["listeners.public.auth must be http[s]://HOST[:PORT] without a path, not \(text)"])
    }
}
