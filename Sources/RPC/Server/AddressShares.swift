import Basics
import HTTPTypes
import Synchronization

/// The client addresses with connections or calls at a listener, each with its usage.
///
/// `AddressRange.countedAsOne` defines which addresses count as one.
final class AddressShares: Sendable {
    /// Sendable: the reference is read and replaced under the table's lock only.
    private struct Entry: @unchecked Sendable {  // under the lock
        weak var share: AddressShare?
    }

    private let entries = Lock<[String: Entry]>([:])

    /// Returns the share of `host`'s address: the same object as long as it is referenced.
    func share(of host: String) -> AddressShare {
        let address = AddressRange.countedAsOne(host)
        return entries.withLock { entries in
            if let share = entries[address]?.share { return share }
            let share = AddressShare(address, of: self)
            entries[address] = Entry(share: share)
            return share
        }
    }

    /// Removes the entry of a share that is no longer referenced, unless it was replaced.
    fileprivate func forget(_ address: String) {
        entries.withLock { entries in
            if let entry = entries[address], entry.share == nil { entries[address] = nil }
        }
    }
}

/// One address's usage of a listener, over all its connections and loops.
final class AddressShare: Sendable {
    /// Running handlers, without those of waiting methods.
    let handlers = BoundedCount()
    /// Calls of waiting methods.
    let waitingCalls = BoundedCount()
    /// Bytes of request messages that calls hold.
    let requestBytes = BoundedCount()
    /// Bytes of responses that wait to be sent.
    let responseBytes = BoundedCount()
    /// The owner of work for callers from the address who are not known yet.
    let owner: WorkOwner
    private let address: String
    private let shares: AddressShares

    fileprivate init(_ address: String, of shares: AddressShares) {
        owner = .address(address)
        self.address = address
        self.shares = shares
    }

    deinit {
        shares.forget(address)
    }
}
