/// Whether the keys of a bucket and the rows of the database belong together, which decides whether anything is removed.
package enum BucketState: Sendable, Hashable {
    /// They belong together.
    case matching
    /// The last stop was unclean: completed uploads are compared, and nothing is removed until that has ended.
    case comparing
    /// Rows are missing, or may be: nothing is removed until an operator has compared both.
    case diverged(Divergence)

    /// The difference that was found.
    package enum Divergence: Sendable, Hashable, CustomStringConvertible {
        /// The database is older than the bucket's record of it.
        case older
        /// The database was restored, or was found to lack rows before.
        case otherHistory
        /// The bucket has completed uploads that the database does not have.
        case lacksUploads(count: Int)

        package var description: String {
            switch self {
            case .older: "the database is older than the bucket"
            case .otherHistory: "the database was restored, or lacks uploads that are in the bucket"
            case .lacksUploads(let count): "the database lacks \(count) completed uploads that are in the bucket"
            }
        }
    }

    /// Whether nothing is removed until an operator has compared the database and the bucket.
    package var removalsAreOff: Bool { divergence != nil }

    /// The reason why removals are off; `nil` = they are not.
    package var divergence: Divergence? {
        if case .diverged(let divergence) = self { divergence } else { nil }
    }
}
