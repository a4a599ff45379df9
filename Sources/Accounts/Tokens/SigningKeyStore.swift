import Basics
package import Crypto
package import Database

/// The signing keys in the database, encrypted under the root key, so that all gateways with the same database have the same ones.
///
/// A key signs from its time until that of the next one, and verifies until the tokens that it signed have expired.
struct SigningKeyStore: Sendable {
    /// A tolerance for tokens that are signed during a rotation.
    static let leeway = Duration.seconds(5)

    private let sealing: SealedValues
    /// The lifetime of a token.
    private let lifetime: Duration

    init(_ keyring: Keyring, lifetime: Duration) {
        sealing = SealedValues(key: keyring.key(.signingKeys))
        self.lifetime = lifetime
    }

    /// Returns the keys of a database. One without keys gets a new one, or those that an earlier version kept as files.
    ///
    /// Files beside rows are of a start that was interrupted, or of an earlier version that was started after this one: tokens of the
    /// latter are refused.
    ///
    /// - Parameters:
    ///   - files: the folder of those files, which are removed; `nil` = no folder.
    ///   - permit: `nil` = no key that verifies nothing any more is removed.
    /// - Throws: ``SigningKeyError``, `DatabaseError`.
    func open(_ database: Database, importing files: SigningKeyFiles?, _ permit: DeletionPermit?) throws -> SigningKeys
    {
        let isFilled = try database.readBlocking { try !SigningKeyRecords($0).all().isEmpty }
        let former = isFilled ? [] : try files?.read() ?? []
        let keys = try database.writeBlocking(mayUseReserve: true) { connection in
            // Another gateway may have filled it meanwhile.
            if try SigningKeyRecords(connection).all().isEmpty { try fill(connection, with: former) }
            return try read(removingExpiredIn: connection, permit)
        }
        try files?.remove()
        return keys
    }

    /// - Parameter former: the keys of files; empty = a new one.
    private func fill(_ connection: Connection, with former: [SigningKeyFiles.Key]) throws {
        let keys = former.isEmpty ? [SigningKeyFiles.Key(ES256Key(), signsFrom: UnixTime(seconds: 0))] : former
        for (index, each) in keys.enumerated() {
            try SigningKeyRecords(connection).insert(record(Int64(index) + 1, each.key, signsFrom: each.signsFrom))
        }
    }

    /// Adds a key in the transaction of a rotation.
    ///
    /// - Parameter signsFrom: the time from which it signs.
    /// - Returns: all keys.
    func add(_ key: ES256Key, signsFrom: UnixTime, in connection: Connection, _ permit: DeletionPermit?) throws
        -> SigningKeys
    {
        let records = SigningKeyRecords(connection)
        let last = try records.all().last?.number ?? 0
        try records.insert(record(last + 1, key, signsFrom: signsFrom))
        try records.requireRows()
        return try read(removingExpiredIn: connection, permit)
    }

    private func read(removingExpiredIn connection: Connection, _ permit: DeletionPermit?) throws -> SigningKeys {
        let records = SigningKeyRecords(connection)
        let keys = try read(in: connection)
        guard let permit else { return keys }
        let now = try permit.now()
        for (row, key) in zip(try records.all(), keys.all) where !key.verifies(at: now) {
            try records.delete(row.number)
        }
        return SigningKeys(keys.all.filter { $0.verifies(at: now) }, number: keys.number)
    }

    /// Returns the keys of a database that has some.
    ///
    /// - Throws: ``SigningKeyError``, `DatabaseError`.
    func read(in connection: ReadConnection) throws -> SigningKeys {
        let rows = try SigningKeyRecords(connection).all()
        let ends = rows.dropFirst().map { $0.signsFrom.adding(lifetime + Self.leeway) } + [nil]
        return SigningKeys(
            try zip(rows, ends).map { row, end in
                guard let bytes = sealing.open(row.sealed, of: Self.owner(row.number)), let key = ES256Key(pkcs8: bytes)
                else { throw SigningKeyError(number: row.number) }
                return SigningKey(key, signsFrom: row.signsFrom, endsAt: end)
            }, number: rows.last?.number ?? 0)
    }

    /// Removes the keys that cannot be read, such as those of another root key.
    func removeUnreadable(in connection: Connection) throws {
        let records = SigningKeyRecords(connection)
        for row in try records.all() where sealing.open(row.sealed, of: Self.owner(row.number)) == nil {
            try records.delete(row.number)
        }
    }

    private func record(
        _ number: Int64, _ key: ES256Key, signsFrom: UnixTime
    ) -> SigningKeyRecords<Connection>.Record {
        .init(
            number: number, sealed: sealing.seal(key.privateKey.exposed, of: Self.owner(number)), signsFrom: signsFrom)
    }

    private static func owner(_ number: Int64) -> [UInt8] { Array("\(number)".utf8) }
}

/// An existing signing key that cannot be read.
struct SigningKeyError: Error, CustomStringConvertible {
    let number: Int64

    var description: String {
        """
        the signing key \(number) in the database cannot be read by this root key: restore the database and the keys from one backup, \
        or run 'data-gateway doctor --accept-root-key', which removes it (clients then have to sign in again)
        """
    }
}

extension Accounts {
    /// Returns what is wrong with the signing keys of a database, as sentences; changes nothing.
    package static func signingKeyProblems(_ keyring: Keyring, in connection: ReadConnection) throws -> [String] {
        do {
            _ = try SigningKeyStore(keyring, lifetime: .zero).read(in: connection)
            return []
        } catch let error as SigningKeyError {
            return ["\(error)"]
        }
    }

    /// Removes the signing keys that a root key cannot decrypt. The gateway makes a new one at its start.
    package static func removeUnreadableSigningKeys(_ keyring: Keyring, in connection: Connection) throws {
        try SigningKeyStore(keyring, lifetime: .zero).removeUnreadable(in: connection)
    }
}
