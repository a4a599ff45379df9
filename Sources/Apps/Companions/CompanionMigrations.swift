import Database

/// The tables of this app. Times are microseconds since 1970.
enum CompanionMigrations {
    static let all = [
        Migration(
            name: "companions-1",
            sql: """
                -- email: as the member wrote it; user_identities has it in lower case.
                -- announced: the last announcement that is among the member's messages.
                CREATE TABLE companions_profiles (
                    user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
                    email TEXT NOT NULL,
                    username TEXT NOT NULL,
                    mobile TEXT NOT NULL,
                    age TEXT NOT NULL,
                    bio TEXT NOT NULL,
                    constellation TEXT NOT NULL,
                    blood TEXT NOT NULL,
                    birthday TEXT NOT NULL,
                    sex TEXT NOT NULL,
                    is_willing INTEGER NOT NULL,
                    shares_mobile INTEGER NOT NULL,
                    announced INTEGER NOT NULL,
                    created_at INTEGER NOT NULL
                ) STRICT;

                CREATE TABLE companions_pictures (
                    user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
                    name TEXT NOT NULL UNIQUE,
                    content_type TEXT NOT NULL,
                    content BLOB NOT NULL
                ) STRICT;

                -- Members who wait for a partner.
                CREATE TABLE companions_queue (
                    user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
                    plan INTEGER NOT NULL,
                    since INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX companions_queue_order ON companions_queue (plan, since, user_id);
                CREATE INDEX companions_queue_since ON companions_queue (since);

                -- All matches of two members, also ended ones. A match goes with either of them.
                CREATE TABLE companions_matches (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    plan INTEGER NOT NULL,
                    title TEXT NOT NULL,
                    first_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    second_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    made_at INTEGER NOT NULL,
                    ended_at INTEGER
                ) STRICT;
                CREATE INDEX companions_matches_first ON companions_matches (first_id, second_id, made_at);
                CREATE INDEX companions_matches_ended ON companions_matches (ended_at) WHERE ended_at IS NOT NULL;
                CREATE INDEX companions_matches_second ON companions_matches (second_id, first_id, made_at);

                -- Both sides of matches that have not ended: a member is in one at most. told_at: when GetMatch told it.
                CREATE TABLE companions_partners (
                    user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
                    match_id INTEGER NOT NULL REFERENCES companions_matches (id) ON DELETE CASCADE,
                    partner_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    told_at INTEGER
                ) STRICT;
                CREATE INDEX companions_partners_match ON companions_partners (match_id);
                CREATE INDEX companions_partners_partner ON companions_partners (partner_id);

                -- The tasks of the match of a member, or of the last one if both have finished it.
                CREATE TABLE companions_tasks (
                    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    match_id INTEGER NOT NULL REFERENCES companions_matches (id) ON DELETE CASCADE,
                    ordinal INTEGER NOT NULL,
                    name TEXT NOT NULL,
                    finished_at INTEGER,
                    comment TEXT NOT NULL,
                    PRIMARY KEY (user_id, match_id, ordinal)
                ) STRICT;
                CREATE INDEX companions_tasks_match ON companions_tasks (match_id);

                CREATE TABLE companions_private_tasks (
                    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    ordinal INTEGER NOT NULL,
                    name TEXT NOT NULL,
                    number INTEGER NOT NULL,
                    is_finished INTEGER NOT NULL,
                    PRIMARY KEY (user_id, ordinal)
                ) STRICT;

                -- Each friendship is two rows.
                CREATE TABLE companions_friends (
                    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    friend_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    since INTEGER NOT NULL,
                    PRIMARY KEY (user_id, friend_id)
                ) STRICT;
                CREATE INDEX companions_friends_friend ON companions_friends (friend_id);

                CREATE TABLE companions_blocks (
                    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    blocked_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    since INTEGER NOT NULL,
                    PRIMARY KEY (user_id, blocked_id)
                ) STRICT;
                CREATE INDEX companions_blocks_blocked ON companions_blocks (blocked_id);

                -- Notices to a member, and what the member wrote to the operators (is_user). cleared_at: when the member removed it
                -- from the inbox, which keeps it for the operators.
                CREATE TABLE companions_messages (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    is_user INTEGER NOT NULL,
                    body TEXT NOT NULL,
                    sent_at INTEGER NOT NULL,
                    delivered_at INTEGER,
                    read_at INTEGER,
                    cleared_at INTEGER
                ) STRICT;
                CREATE INDEX companions_messages_inbox ON companions_messages (user_id, id) WHERE cleared_at IS NULL;
                CREATE INDEX companions_messages_user ON companions_messages (user_id, is_user, id);
                CREATE INDEX companions_messages_feedback ON companions_messages (id) WHERE is_user = 1;

                -- Messages to all members. Each member's messages get a copy when the member reads them.
                CREATE TABLE companions_announcements (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    body TEXT NOT NULL,
                    sent_at INTEGER NOT NULL
                ) STRICT;
                """)
    ]
}
