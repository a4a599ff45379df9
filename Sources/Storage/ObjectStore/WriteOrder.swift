import Database

extension StoreSchema {
    static let orderMigration = Migration(
        name: "store-order",
        sql: """
            -- version: names the state of the row, see WriteOrder. base_version: the version that its writer found when it began; 0 = none.
            ALTER TABLE store_parts ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
            ALTER TABLE store_parts ADD COLUMN base_version INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE store_objects ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
            ALTER TABLE store_objects ADD COLUMN base_version INTEGER NOT NULL DEFAULT 0;
            """,
        postgres: """
            ALTER TABLE store_parts ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
            ALTER TABLE store_parts ADD COLUMN base_version BIGINT NOT NULL DEFAULT 0;
            ALTER TABLE store_objects ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
            ALTER TABLE store_objects ADD COLUMN base_version BIGINT NOT NULL DEFAULT 0;
            """, compatibility: .expanding)
}

/// The order of the writers of one row, which may be in several gateways.
///
/// A writer notes the version of the row when it begins, and writes the next version with its base. So the bytes of a connection that is
/// dead for its client never replace those of a later writer: a writer whose row was replaced since it began may replace it only if the
/// other writer began before it for certain, which its lower base shows.
package struct WriteOrder: Sendable, Equatable {
    /// The number of versions of one row. The rest of a version is random for each new row, so that a row never has a version of an
    /// earlier, deleted row.
    private static let versions: Int64 = 1 << 32

    /// Names the state of the row; 0 = there is no row.
    let version: Int64
    /// The version that the row's writer found when it began.
    let base: Int64

    static let none = WriteOrder(version: 0, base: 0)

    /// Returns the order of a row that replaces this one.
    ///
    /// - Parameter base: the version that its writer found when it began.
    func replaced(from base: Int64) -> WriteOrder {
        guard version == 0 else { return WriteOrder(version: version + 1, base: base) }
        return WriteOrder(version: Int64.random(in: 1..<(1 << 30)) * Self.versions + 1, base: base)
    }

    /// Whether a writer that found `base` when it began may replace this row.
    func precedes(writerFrom base: Int64) -> Bool {
        version == 0 || version == base || (self.base < base && self.base / Self.versions == base / Self.versions)
    }
}
