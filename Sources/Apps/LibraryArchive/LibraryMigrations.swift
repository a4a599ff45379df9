import Database

/// The tables of this app. Times are microseconds since 1970.
enum LibraryMigrations {
    static let all = [
        Migration(
            name: "archive-1",
            sql: """
                -- owner: the user to whom the library belongs; NULL = the user was deleted. One of an owner's is current; the
                -- others are being made by an import, or are left over from one.
                CREATE TABLE libraries (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    owner INTEGER REFERENCES users (id) ON DELETE SET NULL,
                    is_current INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX libraries_owner ON libraries (owner);
                CREATE UNIQUE INDEX libraries_current ON libraries (owner) WHERE is_current = 1;
                CREATE INDEX libraries_left ON libraries (id) WHERE is_current = 0 OR owner IS NULL;

                -- id: the app's; text_size: the bytes of all texts. It stands before them, so that SQLite reads it without them.
                CREATE TABLE library_books (
                    library INTEGER NOT NULL REFERENCES libraries (id) ON DELETE CASCADE,
                    id TEXT NOT NULL,
                    server_id TEXT NOT NULL,
                    created_at INTEGER NOT NULL,
                    updated_at INTEGER NOT NULL,
                    text_size INTEGER NOT NULL,
                    isbn13 TEXT NOT NULL,
                    isbn10 TEXT NOT NULL,
                    name TEXT NOT NULL,
                    locale_name TEXT NOT NULL,
                    summary TEXT NOT NULL,
                    publisher TEXT NOT NULL,
                    image_large TEXT NOT NULL,
                    image_medium TEXT NOT NULL,
                    PRIMARY KEY (library, id)
                ) STRICT;

                CREATE TABLE library_creators (
                    library INTEGER NOT NULL REFERENCES libraries (id) ON DELETE CASCADE,
                    id TEXT NOT NULL,
                    server_id TEXT NOT NULL,
                    created_at INTEGER NOT NULL,
                    updated_at INTEGER NOT NULL,
                    text_size INTEGER NOT NULL,
                    name TEXT NOT NULL,
                    locale_name TEXT NOT NULL,
                    PRIMARY KEY (library, id)
                ) STRICT;

                CREATE TABLE library_tags (
                    library INTEGER NOT NULL REFERENCES libraries (id) ON DELETE CASCADE,
                    id TEXT NOT NULL,
                    server_id TEXT NOT NULL,
                    created_at INTEGER NOT NULL,
                    updated_at INTEGER NOT NULL,
                    text_size INTEGER NOT NULL,
                    name TEXT NOT NULL,
                    color TEXT NOT NULL,
                    PRIMARY KEY (library, id)
                ) STRICT;

                -- category: 0 sentence, 1 paragraph; book: the id of the book that has it.
                CREATE TABLE library_digests (
                    library INTEGER NOT NULL REFERENCES libraries (id) ON DELETE CASCADE,
                    id TEXT NOT NULL,
                    server_id TEXT NOT NULL,
                    created_at INTEGER NOT NULL,
                    updated_at INTEGER NOT NULL,
                    text_size INTEGER NOT NULL,
                    content TEXT NOT NULL,
                    page_index INTEGER NOT NULL,
                    category INTEGER NOT NULL,
                    book TEXT,
                    PRIMARY KEY (library, id)
                ) STRICT;
                CREATE INDEX library_digests_search ON library_digests (library, category, updated_at, id);
                CREATE INDEX library_digests_book ON library_digests (library, book) WHERE book IS NOT NULL;

                -- kind: 1 written, 2 translated.
                CREATE TABLE library_authorship (
                    library INTEGER NOT NULL REFERENCES libraries (id) ON DELETE CASCADE,
                    creator TEXT NOT NULL,
                    book TEXT NOT NULL,
                    kind INTEGER NOT NULL,
                    PRIMARY KEY (library, creator, book, kind)
                ) STRICT, WITHOUT ROWID;

                CREATE TABLE library_tagging (
                    library INTEGER NOT NULL REFERENCES libraries (id) ON DELETE CASCADE,
                    tag TEXT NOT NULL,
                    digest TEXT NOT NULL,
                    PRIMARY KEY (library, tag, digest)
                ) STRICT, WITHOUT ROWID;
                """)
    ]
}
