import Database

/// Which organization writes to a path of a destination: the first that did, or is about to.
///
/// Rows of what was written stay when the job is forgotten, and when the organization is deleted: what is there is still not
/// another's to write over.
extension CopyRecords {
    struct Claim: Sendable, Hashable {
        let organizationID: Int64
        /// Whether it did.
        let isWritten: Bool
    }

    /// The claim on a path: that of who has one, or else a new one of this organization.
    ///
    /// One that was not written and whose organization has no job under way is nobody's any more.
    func claim(_ path: String, organizationID: Int64) throws -> Claim {
        try connection.execute(
            """
            INSERT INTO copy_claims (path, organization_id, is_written) VALUES ($1, $2, 0)
            ON CONFLICT (path) DO UPDATE SET organization_id = excluded.organization_id
            WHERE copy_claims.is_written = 0 AND NOT EXISTS (
                SELECT 1 FROM copy_jobs WHERE organization_id = copy_claims.organization_id AND finished_at IS NULL)
            """, path, organizationID)
        return try connection.first("SELECT organization_id, is_written FROM copy_claims WHERE path = $1", path) {
            Claim(organizationID: $0.int64("organization_id"), isWritten: $0.bool("is_written"))
        } ?? Claim(organizationID: organizationID, isWritten: false)
    }

    func noteWritten(_ path: String, organizationID: Int64) throws {
        try connection.execute(
            """
            INSERT INTO copy_claims (path, organization_id, is_written) VALUES ($1, $2, 1)
            ON CONFLICT (path) DO UPDATE SET is_written = 1 WHERE copy_claims.organization_id = excluded.organization_id
            """, path, organizationID)
    }

    /// Gives a path up that was not written.
    func release(_ path: String, organizationID: Int64) throws {
        try connection.execute(
            "DELETE FROM copy_claims WHERE path = $1 AND organization_id = $2 AND is_written = 0", path, organizationID)
    }
}
