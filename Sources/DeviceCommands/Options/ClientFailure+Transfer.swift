import Basics
package import CommandLineInterface
package import DeviceClient
import HTTPClient
import HTTPTypes
import RPC
import Sockets
import StoreClient
import Wire

extension ClientFailure {
    /// The failure of an upload or download.
    ///
    /// - Parameters:
    ///   - file: the path that the user gave.
    ///   - hint: the instruction for resuming an upload; a sentence without a full stop.
    package init(_ error: any Error, file: String, hint: String) {
        switch error {
        case let failure as ClientFailure: self = failure
        case is CancellationError: self.init("\(file): the transfer was interrupted; \(hint)")
        case let failure as CallFailure:
            let plain = ClientFailure(device: failure)
            let help = Self.help(against: failure.status.message) ?? hint
            let message = plain.exitCode == .unreachable ? "\(plain.message); \(help)" : plain.message
            self.init("\(file): \(message)", exitCode: plain.exitCode, status: plain.status)
        case TransferFailure.connection(let reason):
            self.init("\(file): the object store is not available: \(reason); \(hint)", exitCode: .unreachable)
        case TransferFailure.unusable(let reason):
            // The gateway decides the host of the object store.
            let help = reason.hasPrefix(TLSProblem.isNotAccepted) ? Self.help(against: reason) : nil
            self.init("\(file): \(reason)\(help.map { "; \($0)" } ?? "")")
        case let refusal as StoreRefusal where refusal.retryability == .retry:
            self.init("\(file): the object store is not available: \(refusal); \(hint)", exitCode: .unreachable)
        case let change as SourceChange:
            self.init(
                "\(file) \(change.change), and its upload was aborted: upload it again when it no longer changes")
        case let failure as FileReader.Failure where failure.isMissing && failure.path.contains("\u{FFFD}"):
            // Arguments have this character in the place of bytes that are not UTF-8.
            self.init("cannot read \(failure.path): its name is not UTF-8; give it another one")
        case let failure as FileReader.Failure: self.init("cannot read \(failure.path): \(failure.reason)")
        case let failure as SourceFailure: self.init(failure.message)
        case let refusal as FileRefusal: self.init(refusal.message)
        case let kept as SourceKept: self.init(kept.message)
        case let failure as FolderListing.Failure: self.init("\(failure)")
        case is FileDownload.Corrupted:
            self.init("\(file): the received bytes do not match the object's checksum (CRC-64)")
        default: self.init(local: error, file: file)
        }
    }

    /// A failure of this machine's files and settings.
    private init(local error: any Error, file: String) {
        switch error {
        case let failure as DeviceFolder.Failure where failure.isOfAnotherProcess:
            self.init("\(file): another process is uploading it")
        case let failure as DeviceFolder.Failure: self.init(failure.message)
        case let listener as WrongListener: self.init("\(listener)")
        case let failure as FileDownload.LocalFailure: self.init(failure.message)
        case let error as TLSError: self.init("\(CommandEnvironment.authoritiesVariable): \(error)", exitCode: .usage)
        default: self.init("\(file): \(error)")
        }
    }

    /// The failure of a device's call; a device has a key instead of a session.
    package init(device failure: CallFailure) {
        let plain = ClientFailure(failure.status, of: failure.method, at: failure.server)
        guard failure.status.code == .unauthenticated else {
            self = plain
            return
        }
        let code = failure.detail?.rawValue ?? failure.status.code.name
        self.init(
            """
            the gateway refused the device's key: \(failure.status.message) (\(code)); if the key was replaced or lost, \
            run data-gateway init DEVICE_ID --reinit
            """, status: .unauthenticated)
    }
}
