import Synchronization

/// How many connections one address may have, over all loops of a listener.
final class AddressLimit: Sendable {
    private let limit: Int
    private let open = Mutex<[String: Int]>([:])

    init(_ limit: Int) {
        self.limit = limit
    }

    /// - Returns: whether there was room; where there was, `leave` is to follow.
    func enter(_ host: String) -> Bool {
        open.withLock { open in
            guard open[host, default: 0] < limit else { return false }
            open[host, default: 0] += 1
            return true
        }
    }

    func leave(_ host: String) {
        open.withLock { open in
            guard let count = open[host] else { return }
            open[host] = count > 1 ? count - 1 : nil
        }
    }
}
