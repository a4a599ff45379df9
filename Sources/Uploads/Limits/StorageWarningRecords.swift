import Accounts
import Basics
import Database

extension UploadSchema {
    static let warningsMigration = Migration(
        name: "uploads-10",
        sql: """
            -- The warnings that storage is nearly full. subject: sites/ID, devices/ID or store.
            CREATE TABLE storage_warnings (
                subject TEXT PRIMARY KEY,
                since INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            """)
}

/// The SQL of warnings that storage is nearly full.
struct StorageWarningRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// Returns the sites and devices whose stored bytes are not far enough below their quota to end a warning.
    func levels(_ quota: QuotaConfiguration) throws -> [StorageLevel] {
        var levels: [StorageLevel] = []
        if quota.site.bytes > 0 {
            levels += try owners(from: "site/", to: "site0", quota.site.bytes) { Int64($0).map { .site($0) } }
        }
        if quota.device.bytes > 0 {
            levels += try owners(from: "device/", to: "device0", quota.device.bytes) { .device($0) }
        }
        return levels
    }

    private func owners(
        from prefix: String, to end: String, _ limit: Int64, _ subject: (String) -> StorageLevel.Subject?
    ) throws -> [StorageLevel] {
        try connection.query(
            "SELECT owner, bytes FROM upload_usage WHERE owner > $1 AND owner < $2 AND bytes >= $3", prefix, end,
            StorageLevel.end(ofWarningFor: limit)
        ) { row in
            subject(String(row.text("owner").dropFirst(prefix.count))).map {
                StorageLevel(subject: $0, bytes: row.int64("bytes"), limit: limit)
            }
        }.compactMap { $0 }
    }

    /// Returns the subjects of all warnings.
    func subjects() throws -> Set<String> {
        Set(try connection.query("SELECT subject FROM storage_warnings") { $0.text("subject") })
    }

    /// - Returns: `false` if the warning exists.
    func begin(_ subject: StorageLevel.Subject, at now: UnixTime) throws -> Bool where C == Connection {
        try connection.execute(
            "INSERT INTO storage_warnings (subject, since) VALUES ($1, $2) ON CONFLICT DO NOTHING", subject.name,
            now.microseconds) == 1
    }

    func end(_ subject: String) throws where C == Connection {
        try connection.execute("DELETE FROM storage_warnings WHERE subject = $1", subject)
    }

    /// Returns the organization that is warned; `nil` if the subject was deleted.
    func organization(of subject: StorageLevel.Subject) throws -> OrganizationReference? {
        let id: Int64?
        switch subject {
        case .site(let site):
            id = try connection.first("SELECT organization_id FROM sites WHERE id = $1", site) {
                $0.int64("organization_id")
            }
        case .device(let device):
            id = try connection.first(
                "SELECT organization_id FROM logical_uploads WHERE device_id = $1 ORDER BY id DESC LIMIT 1", device
            ) { $0.int64("organization_id") }
        case .disk: return try Accounts.organization(named: "system", in: connection)
        }
        return try id.flatMap { try Accounts.organization($0, in: connection) }
    }
}
