import AppSupport
import Capability
import Commands
import Foundation
import Serve
import TestSupport
import Testing

@testable import Configuration
@testable import Serve

/// The listeners that are off, and the section of apps. The rules hold for every app, so no test names one.
@Suite(.timeLimited) struct AppsConfigurationTests {
    private func read(_ text: String) throws -> Configuration {
        let folder = try TestFolder()
        let path = folder.path + "/gateway.json5"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return try Configuration(ServeOptions(dataDirectory: "", configurationPath: path), apps: Program.apps)
    }

    private func refusal(_ text: String) -> String {
        do {
            _ = try read(text)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func everyListenerMayBeOff() throws {
        for name in ListenerName.allCases where name != .objectStore {
            let key = name.key.dropFirst("listeners.".count)
            #expect(try read("{listeners: {\(key): \"off\"}}").listeners[name] == nil, "\(name)")
        }
        let off = try read("{listeners: {object_store: \"off\", gateway: \"off\"}}")
        #expect(off.listeners[.objectStore] == nil && off.listeners[.gateway] == nil)
        #expect(refusal("{listeners: {object_store: \"off\"}}").contains("set listeners.gateway to off, too"))
    }

    @Test func appsAndTheirListenerAreOffByDefault() throws {
        let configuration = try Configuration(ServeOptions(dataDirectory: ""), apps: Program.apps)
        #expect(configuration.listeners[.apps] == nil)
        #expect(configuration.apps.enabled.isEmpty)
    }

    @Test func listenerForAppsNeedsAnApp() {
        #expect(refusal("{listeners: {apps: \"127.0.0.1:1\"}}").contains("no app is enabled"))
    }

    @Test func listenerForAppsIsNotReachableInCleartextUnnoticed() {
        #expect(refusal("{listeners: {apps: \"192.0.2.1:1\"}}").contains("the apps listener 192.0.2.1:1 is reachable"))
    }

    @Test(arguments: Program.apps.map { $0.name })
    func enabledAppNeedsTheListener(_ name: String) throws {
        let section = "apps: {\(name): {enabled: true}}"
        #expect(refusal("{\(section)}").contains("apps.\(name).enabled requires the listener for apps"))
        let configuration = try read("{listeners: {apps: \"127.0.0.1:1\"}, \(section)}")
        #expect(configuration.apps.enabled.map { type(of: $0).name } == [name])
    }

    @Test(arguments: Program.apps.map { $0.name })
    func misspelledKeyOfAnAppIsRefused(_ name: String) {
        #expect(refusal("{apps: {\(name): {enabld: true}}}").contains("unknown key apps.\(name).enabld"))
        #expect(refusal("{apps: {\(name): {enabled: 1}}}").contains("apps.\(name).enabled must be true or false"))
        #expect(refusal("{apps: {\(name): 1}}").contains("apps.\(name) must be a section"))
    }
}
