import Database

struct CopyClaim: Sendable, Hashable {
    let organizationID: Int64
    /// Whether the organization has written the path.
    let isWritten: Bool
}

/// Claims of organizations on paths of shared destinations: a path belongs to the organization that writes it first.
///
/// Claims on written paths remain when the job or the organization is deleted, so that no other organization overwrites the
/// existing data.
extension CopyRecords {
    /// Returns the existing claim on a path, or else a new one of this organization.
    ///
    /// A claim on an unwritten path expires when its organization has no job in progress.
    func claim(_ path: String, organizationID: Int64) throws -> CopyClaim where C == Connection {
        try connection.execute(
            """
            INSERT INTO copy_claims (path, organization_id, is_written) VALUES ($1, $2, 0)
            ON CONFLICT (path) DO UPDATE SET organization_id = excluded.organization_id
            WHERE copy_claims.is_written = 0 AND NOT EXISTS (
                SELECT 1 FROM copy_jobs WHERE organization_id = copy_claims.organization_id AND finished_at IS NULL)
            """, path, organizationID)
        return try connection.first("SELECT organization_id, is_written FROM copy_claims WHERE path = $1", path) {
            CopyClaim(organizationID: $0.int64("organization_id"), isWritten: $0.bool("is_written"))
        } ?? CopyClaim(organizationID: organizationID, isWritten: false)
    }

    func noteWritten(_ path: String, organizationID: Int64) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO copy_claims (path, organization_id, is_written) VALUES ($1, $2, 1)
            ON CONFLICT (path) DO UPDATE SET is_written = 1 WHERE copy_claims.organization_id = excluded.organization_id
            """, path, organizationID)
    }

    /// Releases the claim on an unwritten path.
    func release(_ path: String, organizationID: Int64) throws where C == Connection {
        try connection.execute(
            "DELETE FROM copy_claims WHERE path = $1 AND organization_id = $2 AND is_written = 0", path, organizationID)
    }
}
