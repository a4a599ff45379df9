import Database

/// The tables of ``DeviceRecords``.
enum DeviceSchema {
    static let migrations = [
        Migration(
            name: "devices-1",
            sql: """
                CREATE TABLE device_suites (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    organization_id INTEGER NOT NULL REFERENCES organizations (id),
                    site_id INTEGER NOT NULL REFERENCES sites (id),
                    display_name TEXT NOT NULL,
                    description TEXT NOT NULL,
                    created_at INTEGER NOT NULL,
                    updated_at INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX device_suites_organization ON device_suites (organization_id, id);
                CREATE INDEX device_suites_site ON device_suites (site_id);

                -- tags: a JSON object of strings.
                CREATE TABLE devices (
                    id TEXT PRIMARY KEY,
                    organization_id INTEGER NOT NULL REFERENCES organizations (id),
                    suite_id INTEGER REFERENCES device_suites (id),
                    display_name TEXT NOT NULL,
                    description TEXT NOT NULL,
                    tags TEXT NOT NULL,
                    is_disabled INTEGER NOT NULL DEFAULT 0,
                    initialized_at INTEGER,
                    sdk_version TEXT NOT NULL DEFAULT '',
                    platform TEXT NOT NULL DEFAULT '',
                    last_seen_at INTEGER,
                    reinit_allowed_until INTEGER,
                    created_at INTEGER NOT NULL,
                    updated_at INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX devices_organization ON devices (organization_id, id);
                CREATE INDEX devices_suite ON devices (suite_id, id);
                """),
        Migration(
            name: "devices-2",
            sql: """
                -- retired_at: since when the device is retired; NULL = it is in use. had_key: it received a key before it was
                -- retired and returned to use, so uploads may refer to it.
                ALTER TABLE devices ADD COLUMN retired_at INTEGER;
                ALTER TABLE devices ADD COLUMN had_key INTEGER NOT NULL DEFAULT 0;
                """),
        Migration(
            name: "devices-3",
            sql: """
                -- last_seen_at also has the last use of the device's key, which only the key had before.
                UPDATE devices SET last_seen_at = (SELECT last_used_at FROM api_keys k WHERE k.device_id = devices.id)
                WHERE coalesce(last_seen_at, 0)
                    < coalesce((SELECT last_used_at FROM api_keys k WHERE k.device_id = devices.id), 0);
                CREATE INDEX devices_by_last_seen ON devices (organization_id, coalesce(last_seen_at, 0), id);
                CREATE INDEX devices_by_name ON devices (organization_id, lower(display_name), id);
                """),
        Migration(
            name: "devices-4",
            sql: """
                -- clock_offset: the seconds by which the device's clock was ahead at clock_noted_at; NULL = few, or not known.
                ALTER TABLE devices ADD COLUMN clock_offset INTEGER;
                ALTER TABLE devices ADD COLUMN clock_noted_at INTEGER;

                -- The refused calls that had a device's credential or token. reason: the detail code of the error; message: that of
                -- the last error. After a day without such a call, the count starts again.
                CREATE TABLE device_refusals (
                    device_id TEXT NOT NULL REFERENCES devices (id) ON DELETE CASCADE,
                    reason TEXT NOT NULL,
                    message TEXT NOT NULL,
                    count INTEGER NOT NULL,
                    first_at INTEGER NOT NULL,
                    last_at INTEGER NOT NULL,
                    PRIMARY KEY (device_id, reason)
                ) STRICT;
                """),
        Migration(
            name: "devices-5",
            sql: """
                -- silent_after_hours: the time without a call after which a device is reported as silent; 0 = never, NULL = that of
                -- the device's suite, or of the suite's site. silent_since: the last call of a device that is reported.
                ALTER TABLE device_suites ADD COLUMN silent_after_hours INTEGER;
                ALTER TABLE devices ADD COLUMN silent_after_hours INTEGER;
                ALTER TABLE devices ADD COLUMN silent_since INTEGER;
                CREATE INDEX devices_silent ON devices (organization_id, id) WHERE silent_since IS NOT NULL;

                -- The look for silent devices. looked_at: the last one, to a few minutes. resumed_at: the end of the latest time
                -- without looks. pause_seconds: its length.
                CREATE TABLE silence_watch (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    looked_at INTEGER NOT NULL,
                    resumed_at INTEGER NOT NULL,
                    pause_seconds INTEGER NOT NULL
                ) STRICT;
                """),
    ]
}
