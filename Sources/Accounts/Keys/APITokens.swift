import Basics
import Capability
import Checksums
import Crypto
import Database
import GRPCWire
import GatewayAPI
import RPC

/// The API tokens of people, for their programs.
struct APITokens: Sendable {
    /// The largest number of organizations to which a token can be limited.
    static let maximumOrganizations = 16

    /// A token with the names of its user and its organizations.
    struct Named: Sendable {
        let token: APITokenRecord
        let userName: String
        let organizations: [String]
    }

    /// The properties of a token to be created.
    struct Order: Sendable {
        let name: String
        let role: Role
        /// Names; empty = all for which the caller may act.
        let organizations: [String]
        let expiresAt: UnixTime
    }

    let database: Database
    let clock: any WallClock
    let pepper: [UInt8]
    let maximum: Int
    let lifetime: Duration

    /// - Returns: the token, and its text, which is shown only once.
    func create(_ order: Order, by caller: Caller) async throws -> (token: Named, text: Secret) {
        let now = clock.now()
        guard order.expiresAt > now, order.expiresAt <= now.adding(lifetime) else {
            throw RPCError.invalidArgument(
                "expired_at must be in the future, and at most \(lifetime.wholeSeconds / 86_400) days from now")
        }
        guard order.role <= caller.user.role else {
            throw RPCError.invalidArgument("role must be at most your own role, \(caller.user.role)")
        }
        let text = APITokenText()
        let digest = text.digest(pepper: pepper)
        return try await database.write { connection in
            guard try APITokenRecords(connection).count(userID: caller.user.userID) < maximum else {
                throw RPCError(
                    bare: .failedPrecondition, "you have \(maximum) tokens, the maximum: revoke one of them first")
            }
            let organizations = try order.organizations.map {
                try Self.organization($0, for: caller.user, in: connection)
            }
            let scope = APITokenScope(
                role: order.role, organizations: organizations.isEmpty ? nil : organizations.map(\.id))
            let token = APITokenRecord(
                id: text.id, userID: caller.user.userID, name: order.name, digest: digest, scope: scope, createdAt: now,
                expiresAt: order.expiresAt)
            guard try APITokenRecords(connection).insert(token) else {
                throw RPCError.alreadyExists("you already have a token named \"\(order.name)\"")
            }
            try Audit.record(caller.did(to: "apiTokens/\(text.id)"), at: now, in: connection)
            let named = Named(token: token, userName: caller.user.name, organizations: organizations.map(\.name))
            return (named, Secret(text.text))
        }
    }

    /// - Parameter userName: a user of the caller's organization; `nil` = the caller.
    func list(of userName: String?, for caller: Caller) async throws -> [Named] {
        if userName != nil { try Self.requireAdmin(caller, to: "listing the tokens of another user") }
        return try await database.read { connection in
            let user =
                try userName.map { name in
                    try UserRecords(connection).find(organizationID: caller.organization.id, name: name)
                        .orNotFound("user \(name)")
                } ?? UserRecords(connection).find(id: caller.user.userID).orNotFound("your user")
            return try APITokenRecords(connection).all(userID: user.id).map { token in
                let organizations = try token.scope.organizations?.map { id in
                    // A deleted organization has no name any more.
                    try OrganizationRecords(connection).reference(id: id)?.name ?? "#\(id)"
                }
                return Named(token: token, userName: user.name, organizations: organizations ?? [])
            }
        }
    }

    /// Revokes a token of the caller, or as an admin one of a user of the organization.
    func revoke(_ id: String, by caller: Caller) async throws {
        let now = clock.now()
        try await database.write(mayUseReserve: true) { connection in
            guard let token = try APITokenRecords(connection).find(id: id),
                let owner = try UserRecords(connection).find(id: token.userID),
                owner.id == caller.user.userID
                    || caller.user.role >= .admin && owner.organization.id == caller.organization.id
            else { throw RPCError.notFound("token \(id) does not exist") }
            try APITokenRecords(connection).delete(id: id)
            try Audit.record(caller.did(to: "apiTokens/\(id)"), at: now, in: connection)
        }
    }

    private static func organization(
        _ name: String, for user: UserPrincipal, in connection: ReadConnection
    ) throws -> OrganizationReference {
        if name == user.home.name { return user.home }
        guard user.isSystem && user.role >= .admin else {
            throw RPCError.invalidArgument("organizations must contain only your own organization, \(user.home.name)")
        }
        return try OrganizationRecords(connection).find(name: name).orNotFound("organization \(name)").reference
    }

    private static func requireAdmin(_ caller: Caller, to what: String) throws(RPCError) {
        guard caller.user.role >= .admin else { throw .permissionDenied("\(what) requires the role admin") }
    }
}

/// An API token: `dgwt_`, the 16 characters of its id, a secret of 43, and a checksum of 6, all of letters and digits.
///
/// A double click selects the whole token, secret scanners recognize it, and a token with a typing error is refused without a look
/// into the database. The secret has 256 random bits; only the id and a keyed digest are stored.
struct APITokenText: Sendable {
    /// The beginning of each token, which people and secret scanners can recognize.
    static let prefix = TokenPrefix.apiToken.rawValue
    private static let idLength = 16
    private static let secretLength = 43
    private static let checksumLength = 6
    private static let length = prefix.utf8.count + idLength + secretLength + checksumLength
    private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    let id: String
    private let secret: Secret

    /// Makes a new token.
    init() {
        id = String(decoding: Self.randomCharacters(Self.idLength), as: UTF8.self)
        secret = Secret(Self.randomCharacters(Self.secretLength))
    }

    /// Parses a token; `nil` for any text that was not made as one.
    init?(text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == Self.length, text.hasPrefix(Self.prefix) else { return nil }
        let (body, checksum) = (bytes.dropLast(Self.checksumLength), bytes.suffix(Self.checksumLength))
        let characters = body.dropFirst(Self.prefix.utf8.count)
        guard characters.allSatisfy(\.isASCIIAlphanumeric), Self.checksum(body) == Array(checksum) else { return nil }
        id = String(decoding: characters.prefix(Self.idLength), as: UTF8.self)
        secret = Secret(Array(characters.dropFirst(Self.idLength)))
    }

    /// The text for the user, which is shown only once.
    var text: String {
        let body = Array(Self.prefix.utf8) + Array(id.utf8) + secret.exposed
        return String(decoding: body + Self.checksum(body[...]), as: UTF8.self)
    }

    /// Returns the digest that is stored.
    func digest(pepper: [UInt8]) -> [UInt8] {
        HMAC.sha256(key: pepper, Array("api token \(id) ".utf8) + secret.exposed)
    }

    private static func randomCharacters(_ count: Int) -> [UInt8] {
        var characters: [UInt8] = []
        while characters.count < count {
            // Larger values would make some characters more frequent.
            for byte in Random.bytes(count) where byte < 248 && characters.count < count {
                characters.append(alphabet[Int(byte) % alphabet.count])
            }
        }
        return characters
    }

    /// Returns the CRC-32 (ISO-HDLC, as of zip and PNG) in base 62.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var crc = CRC32()
        bytes.withUnsafeBytes { crc.update($0) }
        var rest = crc.value
        var digits: [UInt8] = []
        for _ in 0..<checksumLength {
            digits.insert(alphabet[Int(rest % 62)], at: 0)
            rest /= 62
        }
        return digits
    }
}
