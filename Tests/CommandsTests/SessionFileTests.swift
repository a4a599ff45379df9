import CommandLineInterface
import Foundation
import HTTPTypes
import RPC
import TestSupport
import Testing

@testable import Commands

/// A folder that is removed after the test.
private final class Folder {
    let path = NSTemporaryDirectory() + "data-gateway-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func mode(_ name: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }
}

@Suite(.timeLimited) struct SessionFileTests {
    private let folder: Folder
    private let file: SessionFile
    private let session = SignedInSession(
        authServer: ListenerEndpoint("127.0.0.1:50051"), adminServer: nil, organization: "system", userName: "ada",
        role: "admin",
        accessToken: "access", accessTokenExpiresAtUnix: 1_800_000_000, refreshToken: "refresh",
        refreshTokenExpiresAtUnix: 1_900_000_000)

    init() throws {
        folder = try Folder()
        file = SessionFile(path: folder.path + "/new/session.json")
    }

    private func refusal(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "accepted"
        } catch {
            return (error as? ClientFailure)?.message ?? "\(error)"
        }
    }

    @Test func onlyItsOwnerCanReadIt() throws {
        #expect(try file.read() == nil)
        try file.write(session)
        #expect(try file.read() == session)
        #expect(try folder.mode("new/session.json") == 0o600)
        #expect(try folder.mode("new") == 0o700)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/new") == ["session.json"])
    }

    @Test func oneThatIsReplacedKeepsItsMode() throws {
        try file.write(session)
        var other = session
        other.userName = "grace"
        try file.write(other)
        #expect(try file.read()?.userName == "grace")
        #expect(try folder.mode("new/session.json") == 0o600)
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o610, 0o644])
    func oneThatOthersCanReadIsRefused(mode: Int) throws {
        try file.write(session)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        let message = refusal { _ = try file.read() }
        #expect(message.contains("other users can read the session in \(file.path) (mode \(String(mode, radix: 8)))"))
        #expect(message.contains("data-gateway login"))
    }

    @Test(arguments: ["", "{}", "[1]", "no JSON"])
    func fileThatIsNoSessionIsRefused(text: String) throws {
        try file.write(session)
        try Data(text.utf8).write(to: URL(fileURLWithPath: file.path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        #expect(refusal { _ = try file.read() }.contains("is not a session file"))
    }

    @Test func uncreatableFolderIsNamedInTheFailure() throws {
        try Data().write(to: URL(fileURLWithPath: folder.path + "/new"))
        #expect(refusal { try file.write(session) }.hasPrefix("cannot write the session in \(file.path): "))
    }

    @Test func removedSessionIsNotReadAgain() throws {
        #expect(try !file.remove())
        try file.write(session)
        #expect(try file.remove())
        #expect(try file.read() == nil)
    }

    @Test(arguments: [
        (["DATA_GATEWAY_SESSION": "/s", "HOME": "/h"], "/s"),
        (["DATA_GATEWAY_SESSION": "", "XDG_CONFIG_HOME": "/x", "HOME": "/h"], "/x/data-gateway/session.json"),
        (["HOME": "/h"], "/h/.config/data-gateway/session.json"),
    ])
    func pathComesFromTheEnvironment(variables: [String: String], path: String) throws {
        #expect(try SessionFile(in: Recorder().environment(variables)).path == path)
    }

    @Test func missingHomeAndVariableAreRefused() {
        #expect(
            throws: ClientFailure("set HOME or DATA_GATEWAY_SESSION: one of them defines where the session is kept")
        ) {
            try SessionFile(in: Recorder().environment())
        }
    }

    @Test func commandsSayWhatToDoAboutIt() async throws {
        let recorder = Recorder()
        #expect(await recorder.run("site list", ["DATA_GATEWAY_SESSION": file.path]) == .refused)
        #expect(recorder.errors == "data-gateway: you are not signed in: run data-gateway login --user NAME")
        #expect(await recorder.run("logout", ["DATA_GATEWAY_SESSION": file.path]) == .success)
        #expect(recorder.output == "you were not signed in")
    }

    @Test(arguments: ["ls", "whoami", "logout", "login --user ada"])
    func contextThatDoesNotExistIsRefused(line: String) async throws {
        let recorder = Recorder()
        let variables = ["XDG_CONFIG_HOME": folder.path, "DATA_GATEWAY_CONTEXT": "nope"]
        #expect(await recorder.run(line, variables) == .refused)
        #expect(recorder.errors == "data-gateway: the context nope does not exist: there are default")
    }

    @Test func failureNamesTheContextWithoutASession() async throws {
        try SessionFile(path: folder.path + "/data-gateway/contexts/far.json").write(session.signedOut)
        let recorder = Recorder()
        #expect(
            await recorder.run("whoami", ["XDG_CONFIG_HOME": folder.path, "DATA_GATEWAY_CONTEXT": "far"]) == .refused)
        #expect(
            recorder.errors
                == "data-gateway: you are not signed in with the context far: run data-gateway login --user NAME")
    }

    @Test func signInBeginsOnlyIfTheFileCanBeWritten() async throws {
        try FileManager.default.createDirectory(atPath: file.path, withIntermediateDirectories: true)
        let recorder = Recorder()
        let line = "login --user ada --auth-server 127.0.0.1:1"
        #expect(await recorder.run(line, ["DATA_GATEWAY_SESSION": file.path]) == .refused)
        #expect(recorder.errors.hasPrefix("data-gateway: cannot write the session in \(file.path): "))
        try FileManager.default.removeItem(atPath: file.path)
        try file.checkWritable()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/new").isEmpty)
    }

    @Test(arguments: [
        (["DATA_GATEWAY_CONTEXT": "far"], "that of the context far"),
        (["DATA_GATEWAY_CONTEXT": "default"], "that of the last login"),
        (["DATA_GATEWAY_AUTH": "127.0.0.1:1"], "that of DATA_GATEWAY_AUTH"),
    ])
    func unreachableAddressIsNamedWithItsSource(variables: [String: String], source: String) async throws {
        var unreachable = session
        unreachable.authServer = ListenerEndpoint("127.0.0.1:1")
        try SessionFile(path: folder.path + "/data-gateway/contexts/far.json").write(unreachable.signedOut)
        try SessionFile(path: folder.path + "/data-gateway/session.json").write(unreachable)
        let recorder = Recorder()
        let all = variables.merging(["XDG_CONFIG_HOME": folder.path]) { $1 }
        #expect(await recorder.run("login --user ada --password-stdin", all) == .unreachable)
        #expect(recorder.errors.contains("; the address is \(source): --host names another gateway"))
    }

    @Test func listenersForDevicesAreThoseOfTheSession() throws {
        var far = session
        far.authServer = ListenerEndpoint("far:1")
        let standard = try ServerAddress.forDevices(Recorder().environment(), far)
        #expect([standard.gateway, standard.deviceInit].map(\.description) == ["far:50053", "far:50057"])
        far.gatewayServer = ListenerEndpoint("far:2")
        far.deviceInitServer = ListenerEndpoint("far:3")
        let known = try ServerAddress.forDevices(Recorder().environment(), far)
        #expect([known.auth, known.gateway, known.deviceInit].map(\.description) == ["far:1", "far:2", "far:3"])
        let other = try ServerAddress.forDevices(Recorder().environment(["DATA_GATEWAY_GATEWAY": "near:4"]), far)
        #expect(other.gateway.description == "near:4")
    }

    @Test func serverAddressPrefersOptionThenVariableThenSession() throws {
        let environment = Recorder().environment(["DATA_GATEWAY_ADMIN": "env:2", "DATA_GATEWAY_AUTH": "env:1"])
        let bare = Recorder().environment()
        var far = session
        far.authServer = ListenerEndpoint("[2001:db8::1]:443")
        let option = ListenerEndpoint(PeerAddress(host: "option", port: 3))
        #expect(try ServerAddress.of(.admin, option, environment, far) == option)
        #expect(try ServerAddress.of(.admin, nil, environment, far).description == "env:2")
        #expect(try ServerAddress.of(.admin, nil, bare, far).description == "[2001:db8::1]:50054")
        #expect(try ServerAddress.auth(nil, environment, far).description == "env:1")
        #expect(try ServerAddress.auth(nil, bare, far).description == "[2001:db8::1]:443")
        #expect(try ServerAddress.auth(nil, bare, nil).description == "127.0.0.1:50051")
        far.adminServer = ListenerEndpoint("https://admin:4")
        #expect(try ServerAddress.of(.admin, nil, bare, far).description == "https://admin:4")
        #expect(throws: ClientFailure.self) {
            try ServerAddress.auth(nil, Recorder().environment(["DATA_GATEWAY_AUTH": "nonsense"]), nil)
        }
    }
}
