import Basics
import HTTPTypes
import Synchronization

/// The limits of a listener's connections over all its loops: in total, and from one address.
package final class ConnectionLimits: Sendable {
    /// The name of a reached limit in metrics.
    package enum Limit: String, Error {
        case connections
        case connectionsPerAddress = "connections_per_address"
    }

    private struct Open {
        var count = 0
        var byAddress: [String: Int] = [:]
    }

    private let total: Int
    private let perAddress: Int
    private let open = Lock(Open())

    package init(total: Int, perAddress: Int) {
        self.total = total
        self.perAddress = perAddress
    }

    /// Counts a connection; has to be followed by `leave`.
    ///
    /// - Throws: the limit that is reached.
    package func enter(_ host: String) throws(Limit) {
        let address = AddressRange.countedAsOne(host)
        let reached: Limit? = open.withLock { open in
            guard open.count < total else { return .connections }
            guard open.byAddress[address, default: 0] < perAddress else { return .connectionsPerAddress }
            open.count += 1
            open.byAddress[address, default: 0] += 1
            return nil
        }
        if let reached { throw reached }
    }

    package func leave(_ host: String) {
        let address = AddressRange.countedAsOne(host)
        open.withLock { open in
            guard let count = open.byAddress[address] else { return }
            open.count -= 1
            open.byAddress[address] = count > 1 ? count - 1 : nil
        }
    }
}
