import CommandLineInterface
import Foundation

/// An open folder in the target of a download. Files in it are reached through the descriptor, so that no link which somebody puts into
/// the target leads elsewhere.
final class TargetFolder: Sendable {
    /// The path for people.
    let shown: String
    private let descriptor: Int32

    /// Opens the target itself, which the user chose: links are followed.
    init(_ path: String) throws(ClientFailure) {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        shown = path
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    private init(_ name: String, in parent: TargetFolder) throws(ClientFailure) {
        shown = "\(parent.shown)/\(name)"
        if mkdirat(parent.descriptor, name, 0o777) != 0, errno != EEXIST {
            descriptor = -1
            throw Self.failure(shown)
        }
        descriptor = openat(parent.descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(shown) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Opens the folder of these names, and creates those that are missing. A name that is a link is an error.
    func folder(_ names: [String]) throws(ClientFailure) -> TargetFolder {
        var folder = self
        for name in names { folder = try TargetFolder(name, in: folder) }
        return folder
    }

    /// The path of a file in the folder, for this process as long as the folder is open.
    func path(of name: String) -> String { "/proc/self/fd/\(descriptor)/\(name)" }

    /// Whether the folder has the name, of whatever kind.
    func has(_ name: String) -> Bool {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Whether its file system takes two names for one that differ in case or in the form of their characters.
    func foldsNames() -> Bool {
        let probe = ".data-gateway-\(UUID().uuidString.lowercased())"
        let file = openat(descriptor, probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return true }
        close(file)
        defer { unlinkat(descriptor, probe, 0) }
        return has(probe.uppercased())
    }

    private static func failure(_ path: String) -> ClientFailure {
        let reason = errno == ELOOP || errno == ENOTDIR ? "it is a link or a file" : String(cString: strerror(errno))
        return ClientFailure("cannot create the folder \(path): \(reason)")
    }
}
