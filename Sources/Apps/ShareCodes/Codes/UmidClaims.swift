import Basics
import Crypto
import Database
import RPC

/// The rules of umids: claiming, proving and deleting.
struct UmidClaims: Sendable {
    let database: Database
    let clock: any WallClock
    let limits: ShareCodeLimits
    /// The time after which a umid whose token is not used can be claimed again.
    static let retention = Duration.days(180)
    /// The precision of the time of a token's last use.
    private static let usePrecision = Duration.days(1)

    /// The key of the stored digests.
    let key: [UInt8]
    let origins: RowOrigins
    let umids: RowEstimate

    /// Claims a umid, once.
    ///
    /// - Throws: ALREADY_EXISTS if it is claimed.
    func claim(_ umid: String, for address: String) async throws -> UmidToken {
        try limits.countClaim(of: address)
        let now = clock.now()
        let token = UmidToken()
        let (digest, origin) = (token.digest(key: key), origins.digest(of: address))
        try await database.write { [umids] connection in
            let records = UmidRecords(connection)
            guard try !records.isClaimed(umid) else { throw RPCError.alreadyExists("the umid is claimed") }
            try umids.checkCapacity { try records.count(ofOrigin: origin, limit: $0) }
            try records.insert(umid, tokenID: token.id, digest: digest, origin: origin, at: now)
            connection.afterCommit { umids.add() }
        }
        return token
    }

    /// Returns the umid of the token in the field `authorization`.
    ///
    /// - Throws: UNAUTHENTICATED without a valid token.
    func umid(of metadata: [String]) async throws -> String {
        guard let header = metadata.first, metadata.count == 1 else {
            throw Self.refusal("the call requires the token of a umid: Authorization: Bearer TOKEN")
        }
        let parts = header.split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "bearer", let token = UmidToken(text: String(parts[1])),
            let found = try await database.read({ try UmidRecords($0).find(tokenID: token.id) }),
            constantTimeEqual(found.digest, token.digest(key: key))
        else { throw Self.refusal("the token is not valid") }
        try limits.countCall(of: found.umid)
        let now = clock.now()
        if found.usedAt.adding(Self.usePrecision) <= now {
            try await database.write { try UmidRecords($0).markUsed(found.umid, at: now) }
        }
        return found.umid
    }

    /// Deletes a umid, the data of its codes, and all requests from and to it. The codes stay reserved for a while, without the umid.
    func delete(_ umid: String) async throws {
        let now = clock.now()
        let freeAt = now.adding(ShareCodePeriod.reservation)
        // In batches, because other writes wait meanwhile; the umid last, so that a call that failed can be repeated.
        var count = 1
        while count > 0 {
            count = try await database.write(mayUseReserve: true) { connection in
                try StatusRequestRecords(connection).delete(of: umid)
                    + ShareCodeRecords(connection).release(umid, at: now, freeAt: freeAt)
            }
        }
        try await database.write(mayUseReserve: true) { try UmidRecords($0).delete(umid) }
    }

    private static func refusal(_ message: String) -> RPCError { RPCError(.umidUnauthorized, message) }
}

/// The secret that proves the ownership of a umid: `dgwu`, and the Base64url of an id of 12 bytes and of 30 random bytes. Only the
/// id and a keyed digest are stored.
struct UmidToken: Sendable {
    /// The beginning of each token, which people and secret scanners can recognize.
    private static let prefix = TokenPrefix.umidToken.rawValue
    private static let idLength = 12
    private static let secretLength = 30

    /// The id in lower-case hexadecimal digits.
    let id: String
    private let content: Secret

    /// Makes a new token.
    init() {
        self.init(content: Random.bytes(Self.idLength + Self.secretLength))
    }

    /// Parses a token; `nil` for any other text.
    init?(text: String) {
        guard text.hasPrefix(Self.prefix), let content = Base64.decodeURL(text.dropFirst(Self.prefix.count)),
            content.count == Self.idLength + Self.secretLength
        else { return nil }
        self.init(content: content)
    }

    private init(content: [UInt8]) {
        id = Hex.lower(content[..<Self.idLength])
        self.content = Secret(content)
    }

    /// The text for the app, which is shown only once.
    var text: String { Self.prefix + Base64.encodeURL(content.exposed) }

    /// Returns the digest that is stored.
    func digest(key: [UInt8]) -> [UInt8] { HMAC.sha256(key: key, content.exposed) }
}
