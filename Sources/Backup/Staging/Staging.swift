import Basics
import Crypto
import GRPCWire
import GatewayAPI
import Proto
import RPC
import Synchronization

/// The one archive that is staged, and whether the gateway is about to restart with it.
final class Staging: Sendable {
    typealias Intake = ArchiveIntake<StagedDescription>

    private indirect enum Stage: Sendable {
        case empty
        /// It has an id, and its bytes have not begun to arrive.
        case awaited(id: String, passphrase: Secret?)
        /// The folder's files are being removed.
        case busy(id: String)
        /// A call delivers its bytes.
        case arriving(id: String, Intake)
        /// The call that delivered its bytes was interrupted; another one continues.
        case interrupted(id: String, Intake)
        case complete(StagedDescription)
        /// The archive cannot be restored. A client that lost its connection before the response asks again.
        case refused(id: String, any Error)
        case restarting(after: Stage)

        init(_ description: StagedDescription?) {
            self = description.map { .complete($0) } ?? .empty
        }

        /// - Returns: the intake of the archive that has not arrived completely.
        mutating func becomeBusy(_ id: String) -> Intake? {
            defer { self = .busy(id: id) }
            switch self {
            case .arriving(_, let intake), .interrupted(_, let intake): return intake
            default: return nil
            }
        }
    }

    private let stage: Lock<Stage>

    /// - Parameter description: the archive that an earlier process staged.
    init(_ description: StagedDescription?) {
        stage = Lock(Stage(description))
    }

    var complete: StagedDescription? {
        stage.withLock { if case .complete(let description) = $0 { description } else { nil } }
    }

    /// The archive that has an id, unless all of its bytes have arrived.
    var arriving: ArrivingArchive? {
        stage.withLock { stage in
            switch stage {
            case .awaited(let id, _): ArrivingArchive(stagingID: id, isInterrupted: true)
            case .arriving(let id, let intake): ArrivingArchive(stagingID: id, receivedBytes: intake.received)
            case .interrupted(let id, let intake):
                ArrivingArchive(stagingID: id, receivedBytes: intake.received, isInterrupted: true)
            default: nil
            }
        }
    }

    /// Begins the removal of the archive before a new one; ``expect(_:passphrase:)`` or ``end(_:_:)`` follows.
    ///
    /// - Returns: an interrupted intake, which has to be canceled before the removal.
    /// - Throws: FAILED_PRECONDITION while an archive arrives or is removed.
    func begin(_ id: String) throws -> Intake? {
        try change { stage in
            switch stage {
            case .busy, .arriving:
                throw RPCError(
                    bare: .failedPrecondition, "another archive is being uploaded or removed: try again later")
            default: return stage.becomeBusy(id)
            }
        }
    }

    /// Waits for the new archive's bytes from now on.
    func expect(_ id: String, passphrase: Secret?) {
        stage.withLock { if case .busy(id) = $0 { $0 = .awaited(id: id, passphrase: passphrase) } }
    }

    /// Begins a call that delivers bytes; ``interruptUpload(_:)`` or ``endUpload(_:_:)`` follows.
    ///
    /// - Parameters:
    ///   - offset: the number of bytes that earlier calls have delivered.
    ///   - start: starts the thread that checks the archive with this passphrase; called for the first call.
    /// - Throws: NOT_FOUND for another id; ABORTED for another offset, and while another call delivers bytes. A client that has lost
    ///   its connection may notice that before the gateway does. For an archive that was refused, the reason.
    func beginUpload(_ id: String, from offset: Int64, _ start: (Secret?) -> Intake) throws -> Intake {
        try change { stage in
            let intake: Intake
            switch stage {
            case .awaited(id, let passphrase):
                try Self.require(offset, 0)
                intake = start(passphrase)
            case .interrupted(id, let interrupted):
                try Self.require(offset, interrupted.received)
                intake = interrupted
            case .arriving(id, _):
                throw RPCError(bare: .aborted, "another call is delivering the archive: try again later")
            case .refused(id, let reason): throw reason
            default: throw Self.unknown
            }
            stage = .arriving(id: id, intake)
            return intake
        }
    }

    func interruptUpload(_ id: String) {
        stage.withLock { if case .arriving(id, let intake) = $0 { $0 = .interrupted(id: id, intake) } }
    }

    /// - Parameter outcome: the description of the complete archive, or the reason why it was refused.
    /// - Returns: the description.
    /// - Throws: the reason; ABORTED if the archive was discarded meanwhile.
    func endUpload(
        _ id: String, _ outcome: Result<StagedDescription, any Error>
    ) throws -> StagedDescription {
        try stage.withLock { stage in
            guard case .arriving(id, _) = stage else { throw Self.discarded }
            switch outcome {
            case .success(let description): stage = .complete(description)
            case .failure(let reason): stage = .refused(id: id, reason)
            }
            return try outcome.get()
        }
    }

    /// Ends a removal.
    ///
    /// - Parameter description: that of the archive in the folder; `nil` = the folder has no archive.
    func end(_ id: String, _ description: StagedDescription?) {
        stage.withLock { if case .busy(id) = $0 { $0 = Stage(description) } }
    }

    /// Begins the removal of an archive; ``end(_:_:)`` follows.
    ///
    /// - Returns: an intake that has to be canceled before the removal.
    func beginDiscard(_ id: String) throws -> Intake? {
        try change { stage in
            switch stage {
            case .awaited(id, _), .arriving(id, _), .interrupted(id, _): break
            case .complete(let description) where description.stagingID == id: break
            case .refused(id, _): break
            default: throw Self.unknown
            }
            return stage.becomeBusy(id)
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
            case (.busy, nil), (.arriving, nil):
                throw RPCError(
                    bare: .failedPrecondition, "an archive is being uploaded or removed: try again later")
            case (_, nil): break
            case (.complete(let description), let id) where description.stagingID == id: break
            default: throw Self.unknown
            }
            stage = .restarting(after: stage)
        }
    }

    /// The restart was not requested after all.
    func endRestart() { stage.withLock { if case .restarting(let earlier) = $0 { $0 = earlier } } }

    private func change<T>(_ body: (inout Stage) throws -> T) throws -> T {
        try stage.withLock { stage in
            if case .restarting = stage { throw RPCError(bare: .unavailable, "the gateway is restarting") }
            return try body(&stage)
        }
    }

    private static func require(_ offset: Int64, _ received: Int64) throws {
        guard offset != received else { return }
        throw RPCError(
            bare: .aborted,
            "offset must be \(received), the number of bytes of the archive that have arrived")
    }

    static let discarded = RPCError(bare: .aborted, "the archive was discarded")
    private static let unknown = RPCError.notFound("no archive is staged with this staging_id: stage it again")
}

/// The description of a staged archive: `DIR/restore/description`.
struct StagedDescription: Codable, Sendable, Equatable {
    let stagingID: String
    /// The time of the backup in RFC 3339.
    let createdAt: String
    /// The size of the archive in bytes.
    let size: Int64
    let storeID: String
    let hasObjects: Bool
    /// The bytes of the objects in the archive.
    let objectBytes: Int64
    let missing: Int
    let damaged: Int
}
