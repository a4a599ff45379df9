import Basics
import Synchronization

/// Coordinates the writers of one multipart upload across the connections of this process. Between processes the rows decide, see
/// ``WriteOrder``.
///
/// Any number of connections may send the same part: the first one writes at the part's place, the others into files of their own,
/// and none waits for a connection that may be dead. Of those that commit, the one that began last wins; an earlier one that
/// commits late is replaced already. Complete and Abort end all of them: they wait until writes in flight have returned, and
/// nothing is written afterwards. So a dead connection's last bytes never overwrite acknowledged ones.
package final class WritesInFlight: Sendable {
    /// Thrown to a writer whose upload was completed or aborted meanwhile.
    package struct Revoked: Error {}

    /// The shared state of the writers of one part.
    fileprivate final class Part: Sendable {
        /// The generation of the writer that committed last, and the version of the row that it wrote; 0 = none.
        let committed = Lock<(generation: UInt64, version: Int64)>((0, 0))
    }

    /// The right of one writer to write.
    final class Claim: Sendable {
        /// Whether this writer may write at the part's place.
        let ownsPlace: Bool
        fileprivate let part: Part
        private let generation: UInt64
        private let isRevoked = Lock(false)
        private let revocation = Lock<@Sendable () -> Void>({})

        fileprivate init(part: Part, generation: UInt64, ownsPlace: Bool) {
            self.part = part
            self.generation = generation
            self.ownsPlace = ownsPlace
        }

        /// Runs `body` while the claim cannot be revoked.
        func holding<T>(_ body: () throws -> T) throws -> T {
            try isRevoked.withLock { isRevoked in
                if isRevoked { throw Revoked() }
                return try body()
            }
        }

        /// Has `body` end the writer's waiting if the claim is revoked; called at once if it was.
        func onRevoke(_ body: @escaping @Sendable () -> Void) {
            revocation.withLock { $0 = body }
            if isRevoked.withLock({ $0 }) { body() }
        }

        /// Runs `body`, for one writer of the part at a time.
        ///
        /// - Parameter body: its parameter is the version of the part that another writer of this process, which began earlier, has
        ///   committed since this one began; 0 = none.
        /// - Returns: `nil`, without running it, if a writer that began later has committed already.
        func committing(_ body: (_ replaced: Int64) throws -> PartRecord) rethrows -> PartRecord? {
            try part.committed.withLock { committed in
                guard committed.generation < generation else { return nil }
                let part = try body(committed.version)
                committed = (generation, part.order.version)
                return part
            }
        }

        fileprivate func revoke() {
            isRevoked.withLock { $0 = true }
            revocation.withLock { $0 }()
        }
    }

    private struct Writers {
        var claims: [Int: [Claim]] = [:]
        var generation: UInt64 = 0
    }

    private final class Multipart: Sendable {
        /// Locked while an operation works on the whole upload.
        let writers = Lock(Writers())
    }

    private struct Use {
        let multipart: Multipart
        var users: Int
    }

    private let uses = Lock<[String: Use]>([:])

    /// Returns the right to write a part, which ends with ``end(_:part:of:)``.
    func begin(part number: Int, of multipartID: String) -> Claim {
        retain(multipartID).writers.withLock { writers in
            let others = writers.claims[number] ?? []
            writers.generation += 1
            let claim = Claim(
                part: others.first?.part ?? Part(), generation: writers.generation,
                ownsPlace: !others.contains { $0.ownsPlace })
            writers.claims[number] = others + [claim]
            return claim
        }
    }

    func end(_ claim: Claim, part number: Int, of multipartID: String) {
        let multipart = uses.withLock { $0[multipartID]?.multipart }
        multipart?.writers.withLock { writers in
            let left = writers.claims[number]?.filter { $0 !== claim } ?? []
            writers.claims[number] = left.isEmpty ? nil : left
        }
        release(multipartID)
    }

    /// Revokes every claim, then runs `body`; new claims wait until it returns.
    func exclusively<T>(_ multipartID: String, _ body: () throws -> T) rethrows -> T {
        let multipart = retain(multipartID)
        defer { release(multipartID) }
        return try multipart.writers.withLock { writers in
            for claim in writers.claims.values.joined() {
                claim.revoke()
            }
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
