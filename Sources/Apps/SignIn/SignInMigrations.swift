import Database

/// The tables of this app. Times are microseconds since 1970.
enum SignInMigrations {
    static let all = [
        Migration(
            name: "sign-in-1",
            sql: """
                -- public_id: the id that clients see; status: ACTIVE or DISABLED.
                CREATE TABLE sign_in_profiles (
                    user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
                    public_id TEXT NOT NULL UNIQUE,
                    email TEXT,
                    nickname TEXT,
                    avatar_url TEXT,
                    status TEXT NOT NULL,
                    onboarding_completed INTEGER NOT NULL,
                    created_at INTEGER NOT NULL,
                    updated_at INTEGER NOT NULL
                ) STRICT;

                CREATE TABLE knowledge_bases (
                    id TEXT PRIMARY KEY,
                    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    title TEXT NOT NULL,
                    description TEXT NOT NULL,
                    created_at INTEGER NOT NULL,
                    updated_at INTEGER NOT NULL,
                    deleted_at INTEGER
                ) STRICT;
                CREATE INDEX knowledge_bases_user ON knowledge_bases (user_id, deleted_at);
                CREATE INDEX knowledge_bases_deleted ON knowledge_bases (deleted_at) WHERE deleted_at IS NOT NULL;
                """)
    ]
}
