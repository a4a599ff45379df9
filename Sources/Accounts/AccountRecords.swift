import Basics
import Database

/// The tables of this module. Times are microseconds since 1970; `status` is 1 (enabled) or 2 (disabled), as in the API.
enum AccountRecords {
    static let migrations = [
        Migration(
            name: "accounts-1",
            sql: """
                CREATE TABLE organizations (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    name TEXT NOT NULL UNIQUE,
                    display_name TEXT NOT NULL,
                    kind INTEGER NOT NULL,
                    created_at INTEGER NOT NULL,
                    updated_at INTEGER NOT NULL
                ) STRICT;

                CREATE TABLE users (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    organization_id INTEGER NOT NULL REFERENCES organizations (id),
                    name TEXT NOT NULL,
                    role TEXT NOT NULL,
                    password_hash TEXT NOT NULL,
                    epoch INTEGER NOT NULL DEFAULT 1,
                    last_login_at INTEGER,
                    created_at INTEGER NOT NULL,
                    updated_at INTEGER NOT NULL,
                    UNIQUE (organization_id, name)
                ) STRICT;

                CREATE TABLE refresh_tokens (
                    id TEXT PRIMARY KEY,
                    family TEXT NOT NULL,
                    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    digest BLOB NOT NULL,
                    expires_at INTEGER NOT NULL,
                    rotated_at INTEGER
                ) STRICT;
                CREATE INDEX refresh_tokens_family ON refresh_tokens (family);
                CREATE INDEX refresh_tokens_user ON refresh_tokens (user_id, expires_at);

                CREATE TABLE sites (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    organization_id INTEGER NOT NULL REFERENCES organizations (id),
                    name TEXT NOT NULL,
                    status INTEGER NOT NULL,
                    created_at INTEGER NOT NULL,
                    updated_at INTEGER NOT NULL,
                    UNIQUE (organization_id, name)
                ) STRICT;

                -- owner_kind: 1 site, 2 device. is_held: stopped because its device is disabled or bound to no suite.
                CREATE TABLE api_keys (
                    id TEXT PRIMARY KEY,
                    organization_id INTEGER NOT NULL REFERENCES organizations (id),
                    site_id INTEGER NOT NULL REFERENCES sites (id),
                    owner_kind INTEGER NOT NULL,
                    device_id TEXT UNIQUE,
                    suite_id INTEGER,
                    name TEXT NOT NULL,
                    digest BLOB NOT NULL,
                    status INTEGER NOT NULL,
                    is_held INTEGER NOT NULL DEFAULT 0,
                    epoch INTEGER NOT NULL DEFAULT 1,
                    expires_at INTEGER,
                    last_used_at INTEGER,
                    created_at INTEGER NOT NULL,
                    updated_at INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX api_keys_site ON api_keys (site_id);
                CREATE INDEX api_keys_organization ON api_keys (organization_id, created_at);

                CREATE TABLE audit (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    at INTEGER NOT NULL,
                    actor TEXT NOT NULL,
                    organization TEXT NOT NULL,
                    action TEXT NOT NULL,
                    target TEXT NOT NULL,
                    peer TEXT NOT NULL,
                    result TEXT NOT NULL,
                    count INTEGER NOT NULL DEFAULT 1
                ) STRICT;
                CREATE INDEX audit_at ON audit (at);
                CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit
                    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
                """),
        Migration(
            name: "accounts-2",
            sql: """
                CREATE TABLE system_credentials (
                    user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
                    id TEXT NOT NULL UNIQUE,
                    digest BLOB NOT NULL,
                    created_at INTEGER NOT NULL
                ) STRICT;
                """),
        Migration(
            name: "accounts-3",
            sql: """
                ALTER TABLE sites ADD COLUMN epoch INTEGER NOT NULL DEFAULT 1;

                -- Lines of the audit log go only from its old end, below a mark that a purge moves on.
                CREATE TABLE audit_purge (
                    one INTEGER PRIMARY KEY CHECK (one = 1),
                    purged_below INTEGER NOT NULL
                ) STRICT;
                INSERT INTO audit_purge (one, purged_below) VALUES (1, 0);
                CREATE TRIGGER audit_goes_from_its_old_end BEFORE DELETE ON audit
                    WHEN coalesce(OLD.id >= (SELECT purged_below FROM audit_purge), 1)
                    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
                CREATE INDEX audit_of_organization ON audit (organization, id);
                """),
        Migration(
            name: "accounts-4",
            sql: """
                -- From where a user has signed in; address: one of IPv4, or a /64 of IPv6.
                CREATE TABLE login_addresses (
                    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    address TEXT NOT NULL,
                    last_login_at INTEGER NOT NULL,
                    PRIMARY KEY (user_id, address)
                ) STRICT;
                """),
        Migration(
            name: "accounts-5",
            sql: """
                -- An organization by its id, 0 = none, beside the name that it had: another may have that name later. Lines from
                -- before an organization was created are of one that had its name before.
                ALTER TABLE audit ADD COLUMN organization_id INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE audit ADD COLUMN ids TEXT NOT NULL DEFAULT '';
                DROP TRIGGER audit_is_append_only;
                UPDATE audit SET organization_id = coalesce((
                    SELECT o.id FROM organizations o WHERE o.name = audit.organization AND o.created_at <= audit.at), 0)
                    WHERE organization <> '';
                CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit
                    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
                DROP INDEX audit_of_organization;
                CREATE INDEX audit_of_organization ON audit (organization_id, id);

                -- lines: how many there are of an organization. They go only from its old end, below a mark that a purge moves on.
                CREATE TABLE audit_usage (
                    organization_id INTEGER PRIMARY KEY,
                    lines INTEGER NOT NULL,
                    purged_below INTEGER NOT NULL DEFAULT 0
                ) STRICT;
                INSERT INTO audit_usage (organization_id, lines)
                    SELECT organization_id, count(*) FROM audit GROUP BY organization_id;
                DROP TRIGGER audit_goes_from_its_old_end;
                DROP TABLE audit_purge;
                CREATE TRIGGER audit_goes_from_its_old_end BEFORE DELETE ON audit
                    WHEN coalesce(
                        OLD.id >= (SELECT purged_below FROM audit_usage WHERE organization_id = OLD.organization_id), 1)
                    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
                """),
        Migration(
            name: "accounts-6",
            sql: """
                -- What names in the configuration meant when they first meant something.
                CREATE TABLE configured_organizations (
                    setting TEXT NOT NULL,
                    name TEXT NOT NULL,
                    organization_id INTEGER NOT NULL,
                    PRIMARY KEY (setting, name)
                ) STRICT;
                """),
        Migration(
            name: "accounts-7",
            sql: """
                -- id: the family of its refresh tokens. proof: 1 password, 2 with a second factor, 3 an identity provider.
                CREATE TABLE sessions (
                    id TEXT PRIMARY KEY,
                    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    proof INTEGER NOT NULL,
                    address TEXT NOT NULL,
                    user_agent TEXT NOT NULL,
                    created_at INTEGER NOT NULL,
                    last_used_at INTEGER NOT NULL,
                    expires_at INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX sessions_user ON sessions (user_id, last_used_at);
                CREATE INDEX sessions_expiry ON sessions (expires_at);
                -- The place and the times of earlier sessions are not known.
                INSERT INTO sessions (id, user_id, proof, address, user_agent, created_at, last_used_at, expires_at)
                    SELECT family, user_id, 1, '', '', 0, coalesce(max(rotated_at), 0), max(expires_at)
                    FROM refresh_tokens GROUP BY family, user_id;

                -- organizations: ids separated by commas; empty = all for which the user may act.
                CREATE TABLE api_tokens (
                    id TEXT PRIMARY KEY,
                    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    name TEXT NOT NULL,
                    digest BLOB NOT NULL,
                    role TEXT NOT NULL,
                    organizations TEXT NOT NULL,
                    created_at INTEGER NOT NULL,
                    expires_at INTEGER NOT NULL,
                    last_used_at INTEGER,
                    last_address TEXT NOT NULL DEFAULT '',
                    UNIQUE (user_id, name)
                ) STRICT;
                CREATE INDEX api_tokens_expiry ON api_tokens (expires_at);

                -- sealed: the shared secret, encrypted. last_step: the time step of the last accepted code.
                CREATE TABLE second_factors (
                    user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
                    sealed BLOB NOT NULL,
                    last_step INTEGER NOT NULL,
                    created_at INTEGER NOT NULL,
                    confirmed_at INTEGER
                ) STRICT;
                CREATE TABLE recovery_codes (
                    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    digest BLOB NOT NULL,
                    PRIMARY KEY (user_id, digest)
                ) STRICT;
                ALTER TABLE organizations ADD COLUMN requires_second_factor INTEGER NOT NULL DEFAULT 0;
                """),
        Migration(
            name: "accounts-8",
            sql: """
                -- When a session ends although it is used; NULL = never.
                ALTER TABLE refresh_tokens ADD COLUMN ends_at INTEGER;
                """),
        Migration(
            name: "accounts-9",
            sql: """
                -- INSERT OR REPLACE runs no trigger for the row that it deletes. An id that the table assigns is not known here yet,
                -- and below 0.
                CREATE TRIGGER audit_ids_are_new BEFORE INSERT ON audit
                    WHEN NEW.id > 0 AND EXISTS (SELECT 1 FROM audit WHERE id = NEW.id)
                    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
                """),
        Migration(
            name: "accounts-10",
            sql: """
                -- For pages in the order of ids.
                CREATE INDEX sites_organization ON sites (organization_id, id);
                CREATE INDEX users_organization ON users (organization_id, id);
                """),
        AddressRecords<Connection>.migration,
        KeyRotationRecords<Connection>.migration,
        DisplayNameRecords<Connection>.migration,
        FailureRecords<Connection>.migration,
        SigningKeyRecords<Connection>.migration,
        Migration(
            name: "accounts-site-zones",
            sql: """
                -- time_zone: a name of the time zone database; empty = none is set.
                ALTER TABLE sites ADD COLUMN time_zone TEXT NOT NULL DEFAULT '';
                """),
        Migration(
            name: "accounts-audit-of-people",
            sql: """
                -- The lines that no device or key wrote, which are few: a device writes two for each upload.
                CREATE INDEX audit_of_people ON audit (organization_id, id) WHERE
                    (actor < 'device:' OR actor >= 'device;') AND (actor < 'site:' OR actor >= 'site;')
                    AND (actor < 'static_key:' OR actor >= 'static_key;')
                    AND (actor < 'certificate:' OR actor >= 'certificate;');
                """),
        Migration(
            name: "accounts-site-silence",
            sql: """
                -- silent_after_hours: the time without a call after which a device of the site is reported as silent; 0 = never,
                -- NULL = that of the configuration.
                ALTER TABLE sites ADD COLUMN silent_after_hours INTEGER;
                """),
        InvitationRecords<Connection>.migration,
    ]
}

/// Whether an operator has enabled something; the raw value is used in the database and in the API.
package enum Availability: Int64, Sendable, Hashable {
    case enabled = 1
    case disabled = 2
}
