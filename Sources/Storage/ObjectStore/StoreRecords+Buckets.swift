import Basics
import Database

/// The SQL of buckets, which are configured: only the time of their first use is stored.
extension StoreRecords {
    func bucketTimes() throws -> [String: UnixTime] {
        let rows = try connection.query("SELECT name, created_at FROM store_buckets") {
            ($0.text("name"), $0.time("created_at"))
        }
        return Dictionary(rows, uniquingKeysWith: { first, _ in first })
    }

    func recordBucket(_ name: String, at time: UnixTime) throws where C == Connection {
        try connection.execute(
            "INSERT INTO store_buckets (name, created_at) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", name,
            time.microseconds)
    }
}
