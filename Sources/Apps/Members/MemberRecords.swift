package import Database

/// The tables that apps share. Times are microseconds since 1970.
package enum MemberRecords {
    package static let migrations = [
        Migration(
            name: "members-1",
            sql: """
                -- The organizations that were made for apps, each for the members of one.
                CREATE TABLE app_organizations (
                    organization_id INTEGER PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
                    app TEXT NOT NULL
                ) STRICT;

                -- Sessions by a cookie; digest: SHA-256 of the cookie. One ends when the epoch of its user changes.
                CREATE TABLE member_sessions (
                    digest BLOB PRIMARY KEY,
                    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    epoch INTEGER NOT NULL,
                    created_at INTEGER NOT NULL,
                    expires_at INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX member_sessions_user ON member_sessions (user_id, created_at);
                CREATE INDEX member_sessions_expiry ON member_sessions (expires_at);
                """)
    ]
}
