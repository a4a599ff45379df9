import Basics
import HTTPTypes
import Synchronization

/// The open connections of a daemon.
final class HTTPConnections: Sendable {
    private struct Open {
        var connections: [ObjectIdentifier: DaemonConnection] = [:]
        /// The number of connections for each unit of the limit by address; see `AddressRange.countedAsOne`.
        var byAddress: [String: Int] = [:]
    }

    private let open = Lock(Open())

    func count(from host: String) -> Int {
        let address = AddressRange.countedAsOne(host)
        return open.withLock { $0.byAddress[address] ?? 0 }
    }

    func add(_ connection: DaemonConnection) {
        let address = AddressRange.countedAsOne(connection.host)
        open.withLock { open in
            open.connections[ObjectIdentifier(connection)] = connection
            open.byAddress[address, default: 0] += 1
        }
    }

    /// Removes a connection, before the library closes its socket; after this has returned no other thread uses the socket.
    func remove(_ connection: DaemonConnection) {
        let address = AddressRange.countedAsOne(connection.host)
        open.withLock { open in
            guard open.connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
            let left = (open.byAddress[address] ?? 1) - 1
            open.byAddress[address] = left > 0 ? left : nil
        }
    }

    /// From now on requests without any progress for a while are too slow: the server stops.
    func beginDrain() {
        open.withLock { open in
            for connection in open.connections.values { connection.beginDrain() }
        }
    }

    /// - Returns: the number of connections that were shut down.
    func cutSlow(at now: ContinuousClock.Instant) -> Int {
        open.withLock { open in open.connections.values.count { $0.cutIfTooSlow(at: now) } }
    }
}
