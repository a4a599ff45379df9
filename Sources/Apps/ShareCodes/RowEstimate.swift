import Basics
import Crypto
import RPC
import Synchronization

/// The number of rows of a kind, counted once a minute and adjusted in between, for a limit that may be exceeded by a few.
final class RowEstimate: Sendable {
    private let name: String
    private let limit: Int
    private let limitOfAddress: Int
    private let value = Lock(0)

    /// - Parameters:
    ///   - name: the rows in the plural, for the error.
    ///   - percentOfAddress: the part of the limit for one address.
    init(_ name: String, limit: Int, percentOfAddress: Int) {
        self.name = name
        self.limit = limit
        limitOfAddress = max(1, limit * percentOfAddress / 100)
    }

    /// - Parameter countOfAddress: returns the exact number of the rows of the caller's address, up to the limit that it is given.
    /// - Throws: RESOURCE_EXHAUSTED if there are as many rows as the limit, or as many of the address as its part.
    func checkCapacity(_ countOfAddress: (Int) throws -> Int) throws {
        guard value.withLock({ $0 }) < limit else {
            throw RPCError.rateLimited(
                "the gateway has the maximum number of \(name): try again later", retryAfterMilliseconds: 60_000)
        }
        guard try countOfAddress(limitOfAddress) < limitOfAddress else {
            throw RPCError.rateLimited(
                "the address has the maximum number of \(name): try again later",
                retryAfterMilliseconds: 60_000)
        }
    }

    /// Notes one more row.
    func add() { value.withLock { $0 += 1 } }

    func set(_ count: Int) { value.withLock { $0 = count } }
}

/// The numbers of stored rows, for their limits.
struct ShareCodeEstimates: Sendable {
    let live: RowEstimate
    let umids: RowEstimate
    let requests: RowEstimate

    init(_ configuration: ShareCodesConfiguration) {
        let percent = configuration.percentOfAddress
        live = RowEstimate("share codes", limit: configuration.liveCodes, percentOfAddress: percent)
        umids = RowEstimate("umids", limit: configuration.umids, percentOfAddress: percent)
        requests = RowEstimate(
            "requests", limit: configuration.storedStatusRequests, percentOfAddress: percent)
    }
}

/// The digests by which rows are counted for the address that made them. The address itself is not stored.
struct RowOrigins: Sendable {
    private static let length = 16

    private let key: [UInt8]

    /// - Parameter key: 32 bytes, for this purpose only.
    init(key: [UInt8]) {
        self.key = key
    }

    /// - Parameter address: the address as limits count it.
    func digest(of address: String) -> [UInt8] {
        Array(HMAC.sha256(key: key, Array(address.utf8)).prefix(Self.length))
    }
}
