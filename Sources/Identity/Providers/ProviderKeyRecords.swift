import Basics
import Database

/// The stored key sets of providers, one each.
struct ProviderKeyRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    func find(provider: String, issuer: String) throws -> (body: [UInt8], readAt: UnixTime)? {
        try connection.first(
            "SELECT body, read_at FROM identity_keys WHERE provider = $1 AND issuer = $2", provider, issuer
        ) { ($0.blob("body"), $0.time("read_at")) }
    }

    func replace(provider: String, issuer: String, body: [UInt8], at now: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO identity_keys (provider, issuer, body, read_at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (provider) DO UPDATE SET issuer = $2, body = $3, read_at = $4
            """, provider, issuer, body, now.microseconds)
    }
}
