import Database

struct CopyClaim: Sendable, Hashable {
    let organizationID: Int64
    /// Whether the organization has written the path.
    let isWritten: Bool
    /// The file whose copy has the path; `nil` = unknown, as for claims of earlier versions.
    var fileID: String?
}

/// Claims of organizations on paths of shared destinations: a path belongs to the organization that writes it first.
///
/// Claims on written paths remain when the job or the organization is deleted, so that no other organization overwrites the
/// existing data.
extension CopyRecords {
    /// Returns the existing claim on a path, or else a new one of this organization.
    ///
    /// A claim on an unwritten path expires when its organization has no job in progress.
    ///
    /// - Parameter fileID: the file that a new claim is for.
    func claim(
        _ path: String, organizationID: Int64, fileID: String? = nil
    ) throws -> CopyClaim where C == Connection {
        try connection.execute(
            """
            INSERT INTO copy_claims (path, organization_id, is_written, file_id) VALUES ($1, $2, 0, $3)
            ON CONFLICT (path) DO UPDATE SET organization_id = excluded.organization_id, file_id = excluded.file_id
            WHERE copy_claims.is_written = 0 AND NOT EXISTS (
                SELECT 1 FROM copy_jobs WHERE organization_id = copy_claims.organization_id AND finished_at IS NULL)
            """, path, organizationID, fileID)
        return try connection.first(
            "SELECT organization_id, is_written, file_id FROM copy_claims WHERE path = $1", path
        ) {
            CopyClaim(
                organizationID: $0.int64("organization_id"), isWritten: $0.bool("is_written"),
                fileID: $0.optionalText("file_id"))
        } ?? CopyClaim(organizationID: organizationID, isWritten: false, fileID: fileID)
    }

    /// Whether a copy of another file has the path, or is about to.
    func isTaken(_ path: String, byOtherThan fileID: String) throws -> Bool {
        try connection.hasRow(
            "SELECT 1 FROM copy_claims WHERE path = $1 AND coalesce(file_id, '') <> $2", path, fileID)
    }

    func noteWritten(_ path: String, organizationID: Int64, fileID: String? = nil) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO copy_claims (path, organization_id, is_written, file_id) VALUES ($1, $2, 1, $3)
            ON CONFLICT (path) DO UPDATE SET is_written = 1, file_id = excluded.file_id
            WHERE copy_claims.organization_id = excluded.organization_id
            """, path, organizationID, fileID)
    }

    /// Releases the claim on an unwritten path, unless it is another file's.
    func release(_ path: String, organizationID: Int64, fileID: String? = nil) throws where C == Connection {
        try connection.execute(
            """
            DELETE FROM copy_claims
            WHERE path = $1 AND organization_id = $2 AND is_written = 0 AND coalesce(file_id, '') = $3
            """, path, organizationID, fileID ?? "")
    }
}
