import Synchronization

/// The connections that a daemon has open.
final class HTTPConnections: Sendable {
    private struct Open {
        var connections: [ObjectIdentifier: HTTPConnection] = [:]
        var byHost: [String: Int] = [:]
    }

    private let open = Mutex(Open())

    func count(from host: String) -> Int {
        open.withLock { $0.byHost[host] ?? 0 }
    }

    func add(_ connection: HTTPConnection) {
        open.withLock { open in
            open.connections[ObjectIdentifier(connection)] = connection
            open.byHost[connection.host, default: 0] += 1
        }
    }

    /// To be called before the library closes the socket: nobody touches it once this has returned.
    func remove(_ connection: HTTPConnection) {
        open.withLock { open in
            guard open.connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
            let left = (open.byHost[connection.host] ?? 1) - 1
            open.byHost[connection.host] = left > 0 ? left : nil
        }
    }

    /// - Returns: how many were cut off.
    func cutSlow(at now: ContinuousClock.Instant) -> Int {
        open.withLock { open in open.connections.values.count { $0.cutIfTooSlow(at: now) } }
    }
}
