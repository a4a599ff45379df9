import Basics
import Crypto
import RPC

/// The one archive that is staged, and whether the gateway is about to restart with it.
final class Staging: Sendable {
    private enum Stage {
        case empty
        /// It has an id, and its bytes have not begun to arrive.
        case awaited(id: String, passphrase: Secret?)
        /// The folder's files are being written or removed.
        case busy(id: String)
        case complete(StagedDescription)
        case restarting
    }

    private let stage: Lock<Stage>

    /// - Parameter description: the archive that an earlier process staged.
    init(_ description: StagedDescription?) {
        stage = Lock(description.map { .complete($0) } ?? .empty)
    }

    var complete: StagedDescription? {
        stage.withLock { if case .complete(let description) = $0 { description } else { nil } }
    }

    /// Begins the removal of the archive before a new one; ``expect(_:passphrase:)`` or ``end(_:_:)`` follows.
    ///
    /// - Throws: FAILED_PRECONDITION while an archive arrives or is removed.
    func begin(_ id: String) throws {
        try change { stage in
            if case .busy = stage {
                throw RPCError(bare: .failedPrecondition, "another archive is being uploaded: try again later")
            }
            stage = .busy(id: id)
        }
    }

    /// Waits for the new archive's bytes from now on.
    func expect(_ id: String, passphrase: Secret?) {
        stage.withLock { if case .busy(id) = $0 { $0 = .awaited(id: id, passphrase: passphrase) } }
    }

    /// - Returns: the passphrase of the archive.
    func beginUpload(_ id: String) throws -> Secret? {
        try change { stage in
            guard case .awaited(id, let passphrase) = stage else { throw Self.unknown }
            stage = .busy(id: id)
            return passphrase
        }
    }

    /// - Parameter description: that of the archive in the folder; `nil` = the folder has no archive.
    func end(_ id: String, _ description: StagedDescription?) {
        stage.withLock { if case .busy(id) = $0 { $0 = description.map { .complete($0) } ?? .empty } }
    }

    /// Begins the removal of an archive; ``end(_:_:)`` follows.
    func beginDiscard(_ id: String) throws {
        try change { stage in
            switch stage {
            case .awaited(id, _): break
            case .complete(let description) where description.stagingID == id: break
            default: throw Self.unknown
            }
            stage = .busy(id: id)
        }
    }

    /// Runs `body`, which must be short, while no restart can begin.
    ///
    /// - Throws: UNAVAILABLE if the gateway is restarting; the errors of `body`.
    func excludingRestart(_ body: () throws -> Void) throws {
        try change { _ in try body() }
    }

    /// From here on, nothing else is staged.
    ///
    /// - Parameter id: that of the archive whose data the gateway will have; `nil` = the previous data. Another archive may have been
    ///   staged since the person who confirms the restart has seen it.
    func beginRestart(applying id: String?) throws {
        try change { stage in
            switch (stage, id) {
            case (.busy, nil):
                throw RPCError(bare: .failedPrecondition, "an archive is being uploaded: try again later")
            case (_, nil): break
            case (.complete(let description), let id) where description.stagingID == id: break
            default: throw Self.unknown
            }
            stage = .restarting
        }
    }

    /// The restart was not requested after all; a complete archive has to be staged again.
    func endRestart() { stage.withLock { $0 = .empty } }

    private func change<T>(_ body: (inout Stage) throws -> T) throws -> T {
        try stage.withLock { stage in
            if case .restarting = stage { throw RPCError(bare: .unavailable, "the gateway is restarting") }
            return try body(&stage)
        }
    }

    private static let unknown = RPCError.notFound("no archive is staged with this staging_id: stage it again")
}
