import Platform
import RPC

/// How many connections one address may have, over all loops of a listener.
final class AddressLimit: Sendable {
    private let limit: Int
    private let open = Lock<[String: Int]>([:])

    init(_ limit: Int) {
        self.limit = limit
    }

    /// - Returns: whether there was room; where there was, `leave` is to follow.
    func enter(_ host: String) -> Bool {
        let address = AddressRange.countedAsOne(host)
        return open.withLock { open in
            guard open[address, default: 0] < limit else { return false }
            open[address, default: 0] += 1
            return true
        }
    }

    func leave(_ host: String) {
        let address = AddressRange.countedAsOne(host)
        open.withLock { open in
            guard let count = open[address] else { return }
            open[address] = count > 1 ? count - 1 : nil
        }
    }
}
