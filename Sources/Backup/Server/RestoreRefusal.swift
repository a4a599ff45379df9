import Database
import GRPCWire
import GatewayAPI
import RPC

/// The errors of a restore as a client gets them.
enum RestoreRefusal {
    /// Runs `body`; throws its error as a client gets it.
    static func reporting<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch {
            throw of(error)
        }
    }

    /// Returns the error that a client gets: what is wrong with an archive is the client's, and a full disk the gateway's.
    static func of(_ error: any Error) -> any Error {
        switch error {
        case ArchiveError.passphraseMissing:
            RPCError.invalidArgument("passphrase must not be empty, because the archive is encrypted")
        case ArchiveError.passphraseUnexpected:
            RPCError.invalidArgument("passphrase must be empty, because the archive is not encrypted")
        case let error as ArchiveError: RPCError.invalidArgument(error.description)
        case let error as DataDirectory.Problem: RPCError(bare: .failedPrecondition, error.description)
        case let error as DatabaseError: RPCError.invalidArgument("the archive's database cannot be used: \(error)")
        default: error
        }
    }
}
