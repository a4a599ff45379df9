import Database

/// The tables of this module. Times are microseconds since 1970.
enum IdentityMigrations {
    static let all = [
        Migration(
            name: "identity-1",
            sql: """
                -- The accounts of identity providers with which users can sign in; email: as it was when the identity was linked.
                CREATE TABLE user_identities (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    organization_id INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
                    issuer TEXT NOT NULL,
                    subject TEXT NOT NULL,
                    email TEXT,
                    email_verified INTEGER NOT NULL,
                    created_at INTEGER NOT NULL,
                    last_used_at INTEGER NOT NULL,
                    UNIQUE (organization_id, issuer, subject)
                ) STRICT;
                CREATE INDEX user_identities_user ON user_identities (user_id);
                CREATE INDEX user_identities_email ON user_identities (organization_id, email);

                -- The last key set of each provider.
                CREATE TABLE identity_keys (
                    provider TEXT PRIMARY KEY,
                    issuer TEXT NOT NULL,
                    body BLOB NOT NULL,
                    read_at INTEGER NOT NULL
                ) STRICT;

                -- Tokens and nonces that were used. They are kept until they expire, even if their user was deleted.
                CREATE TABLE spent_tokens (
                    digest BLOB PRIMARY KEY,
                    user_id INTEGER NOT NULL,
                    used_at INTEGER NOT NULL,
                    expires_at INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX spent_tokens_expiry ON spent_tokens (expires_at);
                """)
    ]
}
