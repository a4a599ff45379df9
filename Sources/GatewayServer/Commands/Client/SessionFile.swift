import Basics
import CommandLineInterface
import FoundationEssentials
import Glibc

/// The file with the session of this machine's user, readable only by the user.
struct SessionFile: Sendable {
    /// The environment variable with another path of the file.
    static let variable = "DATA_GATEWAY_SESSION"

    let path: String

    init(path: String) { self.path = path }

    /// The path of `$DATA_GATEWAY_SESSION`, or by default the file of the context in `data-gateway` of `$XDG_CONFIG_HOME` or
    /// `~/.config`; that of the default context is `session.json`.
    ///
    /// - Throws: `ClientFailure` if the context does not exist.
    init(in environment: CommandEnvironment) throws(ClientFailure) {
        if let path = environment[Self.variable] {
            self.init(path: path)
        } else {
            let contexts = try Contexts(environment)
            self = contexts.file(of: try contexts.existing(try contexts.current()))
        }
    }

    /// Whether it is the file of the default context or of `$DATA_GATEWAY_SESSION`, which exists only for a signed-in user.
    func isOfDefaultContext(_ environment: CommandEnvironment) throws(ClientFailure) -> Bool {
        if environment[Self.variable] != nil { return true }
        return try path == Contexts(environment).file(of: .standard).path
    }

    /// Returns the session of the user who is signed in.
    ///
    /// - Throws: `ClientFailure` if nobody is, with the context.
    func signedIn(_ environment: CommandEnvironment) throws(ClientFailure) -> SignedInSession {
        if let session = try read(), session.isSignedIn { return session }
        guard try !isOfDefaultContext(environment) else { throw .notSignedIn }
        throw .notSignedIn(in: try Contexts(environment).current())
    }

    /// Returns the session; `nil` if the file does not exist.
    ///
    /// - Throws: if the file belongs to another user, can be read by others, or has no valid session.
    func read() throws(ClientFailure) -> SignedInSession? {
        var status = stat()
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw ClientFailure("cannot read the session in \(path): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid() else {
            throw ClientFailure(
                "the session in \(path) belongs to another user: set \(Self.variable) to a file of your own")
        }
        guard status.st_mode & 0o077 == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw ClientFailure(
                "other users can read the session in \(path) (mode \(mode)): delete it and run data-gateway login")
        }
        guard let bytes = try? OpenFile.read(descriptor),
            let session = try? JSONDecoder().decode(SignedInSession.self, from: Data(bytes))
        else {
            throw ClientFailure("\(path) is not a session file: delete it and run data-gateway login")
        }
        return session
    }

    /// Checks that the file can be written, before a session that it is to keep begins at the gateway.
    func checkWritable() throws(ClientFailure) {
        var status = stat()
        guard lstat(path, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR else {
            throw ClientFailure("cannot write the session in \(path): it is a folder")
        }
        let probe = "\(path).\(getpid()).check"
        do {
            try PrivateFile.makeFolders(Path.folder(of: path))
            try PrivateFile.write([], to: probe)
        } catch {
            throw ClientFailure("cannot write the session in \(path): \(error)")
        }
        unlink(probe)
    }

    /// Replaces the file atomically; its folder is created if it is missing.
    func write(_ session: SignedInSession) throws(ClientFailure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try PrivateFile.makeFolders(Path.folder(of: path))
            try PrivateFile.write(Array(try encoder.encode(session)) + [0x0A], to: path)
        } catch {
            throw ClientFailure("cannot write the session in \(path): \(error)")
        }
    }

    /// - Returns: whether the file existed.
    func remove() throws(ClientFailure) -> Bool {
        if unlink(path) == 0 { return true }
        if errno == ENOENT { return false }
        throw ClientFailure("cannot remove the session in \(path): \(String(cString: strerror(errno)))")
    }
}
