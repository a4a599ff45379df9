import Accounts
import Basics
import Crypto
import Database
import GRPCWire
import GatewayAPI
import HTTPTypes
import Identity
import Members
import Protobuf
import RPC

/// Sign-ins with an address and a secret that all developers share, on the machine of the gateway only.
struct DevelopmentSignIn: Sendable {
    /// The issuer of such identities: no URL, so no provider's.
    static let issuer = "dev"
    private static let failuresOfAddress = 10

    /// `nil` = sign-ins are refused.
    let secret: Secret?
    /// The longest session.
    let lifetime: Duration
    let store: ProfileStore
    let accounts: Accounts
    private let failures = Throttle(perMinute: Self.failuresOfAddress)

    init(secret: Secret?, lifetime: Duration, store: ProfileStore, accounts: Accounts) {
        self.secret = secret
        self.lifetime = lifetime
        self.store = store
        self.accounts = accounts
    }

    /// - Throws: PERMISSION_DENIED unless it is enabled and the caller is on this machine; UNAUTHENTICATED for a wrong secret.
    func open(
        email: String, nickname: String, secret given: Secret, _ context: CallContext
    ) async throws -> ExternalSignIns.Session {
        guard let secret, context.isFromThisMachine else {
            throw RPCError(bare: .permissionDenied, "dev-login is disabled in production")
        }
        let address = try ProfileText.email(email)
        let now = store.clock.now()
        let host = AddressRange.countedAsOne(context.peer.host)
        if let wait = failures.take(host, at: now) {
            throw RPCError(
                bare: .resourceExhausted, "too many wrong secrets were sent: try again later",
                retryAfterMilliseconds: wait)
        }
        guard secret.matches(given) else {
            accounts.deferred.noteDenial(context.method.name, "WRONG_SECRET", host: context.peer.host, at: now)
            throw RPCError(bare: .unauthenticated, "devSecret is wrong")
        }
        failures.giveBack(host)
        let place = SessionPlace(context)
        return try await store.database.write(mayUseReserve: true) { [store, lifetime, accounts] connection in
            try store.organization.checkExists(in: connection)
            let (user, isNew) = try Identity.member(
                issuer: Self.issuer, subject: address, email: address,
                organizationID: store.organization.reference.id, at: now, in: connection)
            if isNew {
                try Audit.record(user.did("CreateUser", peer: place.address), at: now, in: connection)
            }
            _ = try store.member(
                user, email: address, nickname: ProfileText.nickname(hints: nickname), in: connection)
            return try accounts.externalSignIns.open(
                for: user, from: place, action: context.method.name, lifetime: lifetime, at: now, in: connection)
        }
    }
}
