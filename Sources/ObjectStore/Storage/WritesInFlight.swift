import Synchronization

/// Keeps writers of one multipart upload out of each other's way, across connections.
///
/// A part that is sent again takes its place over from the connection that is still sending it, and Complete and Abort
/// take the place of all: each waits until a write in flight has returned, and from then on the loser writes nothing.
/// So a dead connection's last bytes never land on top of what was acknowledged.
final class WritesInFlight: Sendable {
    /// Thrown to a writer that lost its place.
    struct TakenOver: Error {}

    /// One writer's right to write.
    final class Claim: Sendable {
        private let isLost = Mutex(false)

        /// Runs `body` while nobody can take the place over.
        func holding<T>(_ body: () throws -> T) throws -> T {
            try isLost.withLock { isLost in
                if isLost { throw TakenOver() }
                return try body()
            }
        }

        fileprivate func revoke() {
            isLost.withLock { $0 = true }
        }
    }

    private final class Multipart: Sendable {
        /// Locked for as long as somebody works on the upload as a whole.
        let claims = Mutex<[Int: Claim]>([:])
    }

    private struct Use {
        let multipart: Multipart
        var users: Int
    }

    private let uses = Mutex<[String: Use]>([:])

    /// The right to write a part; whoever had it loses it. Give it back with ``end(_:part:of:)``.
    func begin(part number: Int, of multipartID: String) -> Claim {
        let claim = Claim()
        let earlier = retain(multipartID).claims.withLock { claims in
            defer { claims[number] = claim }
            return claims[number]
        }
        earlier?.revoke()
        return claim
    }

    func end(_ claim: Claim, part number: Int, of multipartID: String) {
        let multipart = uses.withLock { $0[multipartID]?.multipart }
        multipart?.claims.withLock { claims in
            if claims[number] === claim {
                claims[number] = nil
            }
        }
        release(multipartID)
    }

    /// Revokes every claim, then runs `body`; new claims wait until it returns.
    func exclusively<T>(_ multipartID: String, _ body: () throws -> T) rethrows -> T {
        let multipart = retain(multipartID)
        defer { release(multipartID) }
        return try multipart.claims.withLock { claims in
            for claim in claims.values {
                claim.revoke()
            }
            claims.removeAll()
            return try body()
        }
    }

    private func retain(_ multipartID: String) -> Multipart {
        uses.withLock { uses in
            let multipart = uses[multipartID]?.multipart ?? Multipart()
            uses[multipartID] = Use(multipart: multipart, users: (uses[multipartID]?.users ?? 0) + 1)
            return multipart
        }
    }

    private func release(_ multipartID: String) {
        uses.withLock { uses in
            guard var use = uses[multipartID] else { return }
            use.users -= 1
            uses[multipartID] = use.users == 0 ? nil : use
        }
    }
}
