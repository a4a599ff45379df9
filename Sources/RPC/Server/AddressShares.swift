import Basics
import HTTPTypes

/// The addresses that have connections or calls at a listener, each with what it holds there.
///
/// What addresses count as one is `AddressRange.countedAsOne`'s to say.
final class AddressShares: Sendable {
    /// Sendable: the reference is read and replaced under the table's lock only.
    private struct Entry: @unchecked Sendable {  // under the lock
        weak var share: AddressShare?
    }

    private let entries = Lock<[String: Entry]>([:])

    /// The share of `host`'s address: the same object for as long as anybody keeps it.
    func share(of host: String) -> AddressShare {
        let address = AddressRange.countedAsOne(host)
        return entries.withLock { entries in
            if let share = entries[address]?.share { return share }
            let share = AddressShare(address, of: self)
            entries[address] = Entry(share: share)
            return share
        }
    }

    /// Removes the entry of a share that nobody keeps, unless another has taken its place.
    fileprivate func forget(_ address: String) {
        entries.withLock { entries in
            if let entry = entries[address], entry.share == nil { entries[address] = nil }
        }
    }
}

/// The share of a listener that one address holds, over all its connections and loops.
final class AddressShare: Sendable {
    /// Calls whose handler runs, without those that wait.
    let handlers = BoundedCount()
    /// Calls of methods that wait.
    let waitingCalls = BoundedCount()
    /// Bytes of request messages that calls hold.
    let requestBytes = BoundedCount()
    /// Bytes of answers that wait to be sent.
    let responseBytes = BoundedCount()
    private let address: String
    private let shares: AddressShares

    fileprivate init(_ address: String, of shares: AddressShares) {
        self.address = address
        self.shares = shares
    }

    deinit {
        shares.forget(address)
    }
}
