import Database

/// The tables of the app. Times are microseconds since 1970.
enum ShareCodeMigrations {
    static let all = [
        Migration(
            name: "share-codes-1",
            sql: """
                -- Codes, in upper case. sealed: the encrypted data, encrypted again; NULL after the end.
                -- free_at: when somebody else may register the code. umid: empty after its owner deleted it.
                CREATE TABLE share_codes (
                    code TEXT PRIMARY KEY,
                    umid TEXT NOT NULL,
                    sealed BLOB,
                    validity_minutes INTEGER NOT NULL,
                    expires_at INTEGER NOT NULL,
                    free_at INTEGER NOT NULL,
                    created_at INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX share_codes_umid ON share_codes (umid, expires_at);
                CREATE INDEX share_codes_free ON share_codes (free_at);
                CREATE INDEX share_codes_live ON share_codes (expires_at) WHERE sealed IS NOT NULL;

                -- Umids with a token.
                CREATE TABLE umids (
                    umid TEXT PRIMARY KEY,
                    token_id TEXT NOT NULL UNIQUE,
                    digest BLOB NOT NULL,
                    claimed_at INTEGER NOT NULL
                ) STRICT;

                -- Requests between umids. message, answer: encrypted; NULL after the end, and message only then.
                CREATE TABLE status_requests (
                    position INTEGER PRIMARY KEY AUTOINCREMENT,
                    id TEXT NOT NULL UNIQUE,
                    from_umid TEXT NOT NULL,
                    to_umid TEXT NOT NULL,
                    message BLOB,
                    status TEXT NOT NULL,
                    answer BLOB,
                    created_at INTEGER NOT NULL,
                    delivered_at INTEGER,
                    answered_at INTEGER,
                    expires_at INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX status_requests_inbox ON status_requests (to_umid, position) WHERE answered_at IS NULL;
                CREATE INDEX status_requests_from ON status_requests (from_umid);
                CREATE INDEX status_requests_to ON status_requests (to_umid);
                CREATE INDEX status_requests_readable ON status_requests (expires_at) WHERE message IS NOT NULL;
                CREATE INDEX status_requests_expiry ON status_requests (expires_at);

                -- Codes that were not unique, by day since 1970 and length; never the codes.
                CREATE TABLE collisions (
                    day INTEGER NOT NULL,
                    code_length INTEGER NOT NULL,
                    events INTEGER NOT NULL,
                    attempts INTEGER NOT NULL,
                    PRIMARY KEY (day, code_length)
                ) STRICT;
                """),
        Migration(
            name: "share-codes-2",
            sql: """
                -- origin: a keyed digest of the address that made the row, for the limit of one address; NULL after a code's end.
                ALTER TABLE share_codes ADD COLUMN origin BLOB;
                CREATE INDEX share_codes_origin ON share_codes (origin, expires_at) WHERE sealed IS NOT NULL;

                -- used_at: when the token was last used, in steps of a day.
                ALTER TABLE umids ADD COLUMN origin BLOB;
                ALTER TABLE umids ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0;
                UPDATE umids SET used_at = claimed_at;
                CREATE INDEX umids_origin ON umids (origin);
                CREATE INDEX umids_used ON umids (used_at);

                ALTER TABLE status_requests ADD COLUMN origin BLOB;
                CREATE INDEX status_requests_origin ON status_requests (origin);
                """),
    ]
}
