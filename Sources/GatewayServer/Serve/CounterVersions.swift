import Database

/// The storage of the counters that change with each write, on PostgreSQL.
///
/// While a snapshot of another program is open, the server keeps all versions of a row, and an index has an entry for many of them. A
/// search by the key alone would read them all, so each write would take longer than the one before it. Therefore the rows of a
/// counter are in a table of their own, which inherits the counter's columns, and whose key ends with a number that rises every 16
/// changes: the search from the highest number finds the current row at once. Between these changes no index changes, so the server
/// removes old versions without a vacuum.
///
/// All statements name the counter. INSERT adds to the row with the same key: a trigger does it before a conflict could be found. SELECT,
/// UPDATE and DELETE include the table of versions, because it inherits. One writer at a time has the lock, so there is one row for
/// each key.
enum CounterVersions {
    static let migration = Migration(
        name: "counters-1",
        sql: "",
        postgres: """
            CREATE SEQUENCE counter_versions;

            -- A search by another plan than the index of versions would read all of them; the planner only knows the current rows.
            CREATE FUNCTION keep_versions(counter text, keys text, changes text) RETURNS void LANGUAGE plpgsql AS $f$
            DECLARE
                names text := (
                    SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute
                    WHERE attrelid = counter::regclass AND attnum > 0);
            BEGIN
                EXECUTE format($t$
                    CREATE TABLE %1$s_versions (
                        version BIGINT NOT NULL, changes BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (%2$s, version)
                    ) INHERITS (%1$s);
                    ALTER TABLE %1$s_versions SET (
                        fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
                    CREATE FUNCTION %1$s_add() RETURNS trigger LANGUAGE plpgsql
                        SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
                    AS $add$ BEGIN
                        UPDATE %1$s_versions v SET %6$s, changes = v.changes + 1,
                            version = CASE WHEN v.changes %% 16 = 15 THEN nextval('counter_versions') ELSE v.version END
                        WHERE ctid = (
                            SELECT ctid FROM %1$s_versions WHERE (%2$s) = (%3$s) ORDER BY version DESC LIMIT 1);
                        IF NOT FOUND THEN
                            INSERT INTO %1$s_versions (%4$s, version) VALUES (%5$s, nextval('counter_versions'));
                        END IF;
                        RETURN NULL;
                    END $add$;
                    WITH moved AS (DELETE FROM ONLY %1$s RETURNING *)
                    INSERT INTO %1$s_versions (%4$s, version) SELECT %4$s, nextval('counter_versions') FROM moved;
                    CREATE TRIGGER %1$s_add BEFORE INSERT ON %1$s FOR EACH ROW EXECUTE FUNCTION %1$s_add();
                    $t$, counter, keys, 'NEW.' || replace(keys, ', ', ', NEW.'), names,
                    'NEW.' || replace(names, ', ', ', NEW.'), changes);
            END $f$;
            SELECT keep_versions('audit_usage', 'organization_id',
                'lines = v.lines + NEW.lines, purged_below = greatest(v.purged_below, NEW.purged_below)');
            SELECT keep_versions('object_days', 'organization_id, day',
                'arrived_objects = v.arrived_objects + NEW.arrived_objects, arrived_bytes = v.arrived_bytes + NEW.arrived_bytes,
                deleted_objects = v.deleted_objects + NEW.deleted_objects, deleted_bytes = v.deleted_bytes + NEW.deleted_bytes,
                requested_objects = v.requested_objects + NEW.requested_objects,
                requested_bytes = v.requested_bytes + NEW.requested_bytes');
            SELECT keep_versions('object_facets', 'organization_id, kind, key, value',
                'objects = v.objects + NEW.objects, bytes = v.bytes + NEW.bytes');
            SELECT keep_versions('object_times', 'organization_id, span, start',
                'first_position = least(v.first_position, NEW.first_position),
                last_position = greatest(v.last_position, NEW.last_position)');
            SELECT keep_versions('store_owner_usage', 'owner', 'bytes = v.bytes + NEW.bytes');
            SELECT keep_versions('upload_usage', 'owner',
                'bytes = v.bytes + NEW.bytes, objects = v.objects + NEW.objects, uploads = v.uploads + NEW.uploads');
            DROP FUNCTION keep_versions;
            CREATE INDEX object_facets_versions_by_objects ON object_facets_versions (organization_id, kind, key, objects);

            -- The current row of a counter, for transactions that write.
            CREATE FUNCTION audit_usage_newest(bigint) RETURNS SETOF audit_usage LANGUAGE sql STABLE
                SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
            AS $f$
                SELECT organization_id, lines, purged_below FROM audit_usage_versions WHERE organization_id = $1
                ORDER BY version DESC LIMIT 1
            $f$;
            CREATE FUNCTION store_owner_usage_newest(text) RETURNS SETOF store_owner_usage LANGUAGE sql STABLE
                SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
            AS $f$ SELECT owner, bytes FROM store_owner_usage_versions WHERE owner = $1 ORDER BY version DESC LIMIT 1 $f$;
            CREATE FUNCTION upload_usage_newest(text) RETURNS SETOF upload_usage LANGUAGE sql STABLE
                SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
            AS $f$
                SELECT owner, bytes, objects, uploads FROM upload_usage_versions WHERE owner = $1
                ORDER BY version DESC LIMIT 1
            $f$;

            -- The triggers that changed a counter by UPDATE, which finds its row among all versions.
            CREATE OR REPLACE FUNCTION audit_goes_from_its_old_end() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
                IF coalesce(OLD.id >= (SELECT purged_below FROM audit_usage_newest(OLD.organization_id)), true) THEN
                    RAISE EXCEPTION USING MESSAGE = 'the audit log is append-only', ERRCODE = 'integrity_constraint_violation';
                END IF;
                RETURN OLD;
            END $f$;
            CREATE OR REPLACE FUNCTION upload_usage_upload_ended() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
                INSERT INTO upload_usage (owner, bytes, objects, uploads)
                SELECT owner, 0, 0, -1 FROM upload_owners WHERE upload_id = NEW.id;
                RETURN NEW;
            END $f$;
            CREATE OR REPLACE FUNCTION upload_usage_object_deleted() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
                INSERT INTO upload_usage (owner, bytes, objects, uploads)
                SELECT owner, -greatest(OLD.tag_bytes, OLD.tag_cost), -1, 0 FROM upload_owners WHERE upload_id = OLD.upload_id;
                RETURN OLD;
            END $f$;
            CREATE OR REPLACE FUNCTION upload_usage_object_changed() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
                INSERT INTO upload_usage (owner, bytes, objects, uploads)
                SELECT owner, greatest(NEW.tag_bytes, NEW.tag_cost) - greatest(OLD.tag_bytes, OLD.tag_cost), 0, 0
                FROM upload_owners WHERE upload_id = NEW.upload_id;
                RETURN NEW;
            END $f$;
            CREATE OR REPLACE FUNCTION store_owner_changed() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
                INSERT INTO store_owner_usage (owner, bytes)
                SELECT o.owner, o.sign * coalesce((SELECT bytes FROM store_usage WHERE upload_id = NEW.upload_id), 0)
                FROM (VALUES (OLD.owner, -1), (NEW.owner, 1)) AS o (owner, sign);
                RETURN NEW;
            END $f$;
            CREATE OR REPLACE FUNCTION store_owner_usage_new() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
                INSERT INTO store_owner_usage (owner, bytes)
                SELECT owner, NEW.bytes FROM store_owners WHERE upload_id = NEW.upload_id;
                RETURN NEW;
            END $f$;
            CREATE OR REPLACE FUNCTION store_owner_usage_changed() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
                INSERT INTO store_owner_usage (owner, bytes)
                SELECT owner, NEW.bytes - OLD.bytes FROM store_owners WHERE upload_id = NEW.upload_id;
                RETURN NEW;
            END $f$;
            """, compatibility: .expanding)
}
