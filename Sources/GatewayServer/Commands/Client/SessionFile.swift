import Basics
import CommandLineInterface
import Foundation

/// The file that holds the session of this machine's user: nobody else may read it.
struct SessionFile: Sendable {
    /// Names another file than the usual one.
    static let variable = "DATA_GATEWAY_SESSION"

    let path: String

    init(path: String) { self.path = path }

    /// `$DATA_GATEWAY_SESSION`, else the file of the context in `data-gateway` of `$XDG_CONFIG_HOME` or `~/.config`; that of the
    /// standard context is `session.json`.
    init(in environment: CommandEnvironment) throws(ClientFailure) {
        if let path = environment[Self.variable] {
            self.init(path: path)
        } else {
            let contexts = try Contexts(environment)
            self = contexts.file(of: try contexts.current())
        }
    }

    /// The session, `nil` where nobody signed in.
    ///
    /// - Throws: where the file is somebody else's, can be read by others, or is no session.
    func read() throws(ClientFailure) -> SignedInSession? {
        var status = stat()
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw ClientFailure("cannot read the session in \(path): \(String(cString: strerror(errno)))")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid() else {
            throw ClientFailure(
                "the session in \(path) belongs to another user: set \(Self.variable) to a file of your own")
        }
        guard status.st_mode & 0o077 == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw ClientFailure(
                "other users can read the session in \(path) (mode \(mode)): delete it and run data-gateway login")
        }
        guard let data = try? file.readToEnd(),
            let session = try? JSONDecoder().decode(SignedInSession.self, from: data)
        else {
            throw ClientFailure("\(path) is not a session file: delete it and run data-gateway login")
        }
        return session
    }

    /// Replaces the file in one step; its folder is made where it is missing.
    func write(_ session: SignedInSession) throws(ClientFailure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try FileManager.default.createDirectory(
                atPath: Path.folder(of: path), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try PrivateFile.write(Array(try encoder.encode(session)) + [0x0A], to: path)
        } catch {
            let reason = (error as? PrivateFile.Failure)?.reason ?? error.localizedDescription
            throw ClientFailure("cannot write the session in \(path): \(reason)")
        }
    }

    /// - Returns: whether there was one.
    func remove() throws(ClientFailure) -> Bool {
        if unlink(path) == 0 { return true }
        if errno == ENOENT { return false }
        throw ClientFailure("cannot remove the session in \(path): \(String(cString: strerror(errno)))")
    }
}
