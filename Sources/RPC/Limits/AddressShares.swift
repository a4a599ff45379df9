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
    /// Calls by connections of proxies that wait for their turn or have handlers.
    let passedOn = BoundedCount()
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

/// A count that several threads increase up to a limit.
struct BoundedCount: ~Copyable, Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    /// Adds one if the count then is within `limit`.
    ///
    /// - Returns: whether it was added; if so, `giveBack` must follow.
    func take(limit: Int) -> Bool {
        if count.add(1, ordering: .relaxed).newValue <= limit { return true }
        giveBack()
        return false
    }

    func giveBack() { count.subtract(1, ordering: .relaxed) }

    /// Adds `change`, even above `limit`.
    ///
    /// - Returns: whether the count is now within `limit`.
    func add(_ change: Int, limit: Int = .max) -> Bool {
        count.add(change, ordering: .relaxed).newValue <= limit
    }
}
