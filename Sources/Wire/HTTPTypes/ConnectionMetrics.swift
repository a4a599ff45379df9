package import Basics
import Synchronization

/// A listener's counters of connections; any thread may read them at any time.
package final class ConnectionMetrics: Sendable {
    private let acceptedCount = Atomic<Int>(0)
    private let openCount = Atomic<Int>(0)
    private let reached = Lock<[String: Int]>([:])
    /// Notifies when a limit was reached or a connection ended, after it was counted.
    package let changes = Signal()

    package init() {}

    package var accepted: Int { acceptedCount.load(ordering: .relaxed) }
    package var open: Int { openCount.load(ordering: .relaxed) }
    /// The number of times that each limit was reached, by its name.
    package var limits: [String: Int] { reached.withLock { $0 } }

    package func connectionOpened() {
        acceptedCount.add(1, ordering: .relaxed)
        openCount.add(1, ordering: .relaxed)
    }

    package func connectionClosed() {
        openCount.subtract(1, ordering: .relaxed)
        changes.notify()
    }

    /// Counts a reached limit, because of which a client was refused or cut off.
    package func limitReached(_ name: String) {
        reached.withLock { $0[name, default: 0] += 1 }
        changes.notify()
    }
}

/// The descriptions of failed TLS connections, which are the same for all clients.
package enum TLSProblem {
    /// The server answers without TLS.
    package static let isCleartext = "the server does not use TLS at this port: use http:// if it is the right one"
    /// The server closed the connection in the handshake.
    package static let endsHandshake =
        "the server closed the connection during the TLS handshake: use http:// if it does not use TLS"
    /// The beginning of the description of a certificate that no trusted authority signed, or that is not valid now.
    package static let isNotAccepted = "the server's certificate is not accepted"
    /// The part of the description of a certificate for other hosts before their names.
    package static let isForOthers = "the server's certificate is for"

    /// The certificate is not for the server's host.
    ///
    /// - Parameter names: the DNS names and addresses in the certificate.
    package static func others(_ names: [String], host: String) -> String {
        "\(isForOthers) \(names.isEmpty ? "no host" : names.joined(separator: ", ")), not for \(host)"
    }
}
