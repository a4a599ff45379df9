import Basics
import Capability
import Crypto
import Database
package import GRPCWire
import GatewayAPI
import HTTPTypes
package import Protobuf
package import RPC

/// The authentication of every listener: identifies the caller and checks the access table.
///
/// A token's signature is cached, but its key, user and site are read from the database at each call, by primary key, so that an
/// operator's revocation takes effect with the next call.
package struct Authenticator: Admission {
    let database: Database
    let tokens: AccessTokens
    /// `nil` if no other gateway rotates keys.
    let keyUpdates: SigningKeyUpdates?
    let deferred: DeferredRecords
    let clock: any WallClock
    let auditPressure: AuditPressure
    /// The callers for each method of the listeners.
    let access: AccessTable
    let pepper: [UInt8]
    /// Whether a client certificate is accepted instead of a token if the access table allows it. True for listeners with
    /// authorities for that purpose.
    package var trustsCertificates = false

    package func isNeeded(for method: MethodDescriptor) -> Bool { access.access(to: method.path) != .anyone }

    package nonisolated(nonsending) func admit(_ context: CallContext) async throws(RPCError) {
        guard let access = self.access.access(to: context.method.path) else {
            throw .permissionDenied("no role may call \(context.method.path)")
        }
        do {
            try await identify(context, access)
        } catch {
            throw inWordsOfApp(error, context)
        }
        if let principal = context.principal, !context.method.isSideEffectFree {
            try auditPressure.admit(principal)
        }
    }

    /// Counts a refused call of a device.
    package func finished(_ context: CallContext, status: StatusCode, error: RPCError?) {
        guard let error, case .device(let device) = context.principal else { return }
        deferred.noteRefusal(of: device.deviceID, error, at: clock.now())
    }

    /// Returns a refusal with the message of the app that has the call, if it has one.
    private func inWordsOfApp(_ refusal: RPCError, _ context: CallContext) -> RPCError {
        guard refusal.status == .unauthenticated, let messages = access.messages(for: context.method.path) else {
            return refusal
        }
        var refusal = refusal
        refusal.message = context.metadata["authorization"] == nil ? messages.signedOut : messages.expired
        return refusal
    }

    private nonisolated(nonsending) func identify(_ context: CallContext, _ access: Access) async throws(RPCError) {
        switch access {
        case .anyone: return
        case .apiKey:
            let text = try bearer(in: context)
            if text.hasPrefix(APITokenText.prefix) { throw Self.wrongKind }
            let principal = try await keyOwner(of: try await token([.apiKey], text, in: context))
            context.identity = principal
            context.workOwner = principal.workOwner
        case .user(let role):
            try await admit(context, needing: "the role \(role)") { $0.role >= role }
        case .session, .unprovenSession:
            try await admit(
                context, needing: "the token of a person's session with the role viewer or above",
                unproven: access == .unprovenSession
            ) { $0.sessionID != nil && $0.role >= .viewer }
        case .systemAdmin: try await admitSystemAdmin(context)
        case .systemAdminOrCertificate:
            // A caller with both is identified by the token.
            if trustsCertificates, let subject = context.clientCertificate, context.metadata["authorization"] == nil {
                let principal = Principal.certificate(subject: subject)
                context.identity = principal
                context.workOwner = principal.workOwner
            } else {
                try await admitSystemAdmin(context)
            }
        }
    }

    private nonisolated(nonsending) func admitSystemAdmin(_ context: CallContext) async throws(RPCError) {
        try await admit(context, needing: "the role admin in the organization system") {
            $0.isSystem && $0.role >= .admin && !$0.isLimitedToOrganizations
        }
    }

    /// - Parameters:
    ///   - what: the requirement, for the refusal.
    ///   - unproven: whether a session is admitted that lacks a required second factor.
    private nonisolated(nonsending) func admit(
        _ context: CallContext, needing what: String, unproven: Bool = false, where mayCall: (UserPrincipal) -> Bool
    ) async throws(RPCError) {
        let user = try await user(in: context)
        let principal = Principal.user(user)
        context.identity = principal
        context.workOwner = principal.workOwner
        let lacksFactor = user.lacksSecondFactor && !unproven
        guard mayCall(user), !lacksFactor else {
            let refusal = RPCError.permissionDenied(
                lacksFactor
                    ? "your organization requires a second factor: set one up in the console (My account) or with "
                        + "data-gateway account second-factor enable"
                    : "this call requires \(what)")
            var entry = try Caller(context).did(to: "")
            entry.result = refusal.code
            deferred.note(entry, at: clock.now())
            throw refusal
        }
    }

    private func bearer(in context: CallContext) throws(RPCError) -> String {
        let headers = context.metadata.values("authorization")
        guard let header = headers.first, headers.count == 1 else {
            throw RPCError(.unauthenticated, "the call requires one authorization header with a bearer token")
        }
        // On bytes: on characters it takes several times as long as everything else here.
        let parts = header.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
        guard parts.count == 2, String(Substring(parts[0])).lowercased() == "bearer" else {
            throw RPCError(.unauthenticated, "the authorization header must have the form: Bearer TOKEN")
        }
        return String(Substring(parts[1]))
    }

    private nonisolated(nonsending) func token(
        _ kinds: Set<TokenKind>, _ text: String, in context: CallContext
    ) async throws(RPCError) -> AccessToken {
        let now = clock.now()
        var verified = tokens.verify(text, at: now)
        if verified == nil, let keyUpdates, await keyUpdates.read(for: text, at: now) {
            verified = tokens.verify(text, at: now)
        }
        guard let token = verified else { throw refuse(context) }
        guard kinds.contains(token.kind) else { throw Self.wrongKind }
        return token
    }

    /// Counts a refused token, and returns the refusal.
    private func refuse(_ context: CallContext) -> RPCError {
        deferred.noteDenial(
            context.method.name, DetailCode.unauthenticated.rawValue, host: context.peer.host, at: clock.now())
        return RPCError(.unauthenticated, "the token is not valid or has expired")
    }

    private static let wrongKind = RPCError(.unauthenticated, "this service does not accept a token of this kind")

    private nonisolated(nonsending) func keyOwner(of token: AccessToken) async throws(RPCError) -> Principal {
        let now = clock.now()
        let key = try await read { try APIKeyRecords($0).find(id: token.subject) }
        guard let key else { throw Self.revoked }
        if let refusal = key.usability(at: now).refusal {
            deferred.noteRefusal(of: key, refusal, at: now)
            throw Self.revoked
        }
        guard key.epoch == token.epoch else { throw Self.revoked }
        deferred.noteUse(of: key, at: now)
        return switch key.principal {
        case .device(let device): .device(device)
        case .site(let site): .site(site)
        }
    }

    private nonisolated(nonsending) func user(in context: CallContext) async throws(RPCError) -> UserPrincipal {
        let text = try bearer(in: context)
        if text.hasPrefix(APITokenText.prefix) { return try await user(byAPIToken: text, in: context) }
        let token = try await token([.user, .system], text, in: context)
        var user = token.kind == .user ? try await user(bySession: token) : try await user(bySystem: token)
        if let name = context.metadata["x-organization"] { try await act(for: name, as: &user) }
        return user
    }

    /// Returns the user of an access token whose session has not ended.
    private nonisolated(nonsending) func user(bySession token: AccessToken) async throws(RPCError) -> UserPrincipal {
        guard let id = Int64(token.subject), let session = token.session,
            let found = try await read({ try UserRecords($0).find(id: id, session: session) }),
            found.user.epoch == token.epoch
        else { throw Self.revoked }
        deferred.noteUse(ofSession: session, lastAt: found.lastUsedAt, at: clock.now())
        var user = found.user.principal
        user.sessionID = session
        user.lacksSecondFactor = found.user.requiresSecondFactor && found.proof == .password
        return user
    }

    private nonisolated(nonsending) func user(bySystem token: AccessToken) async throws(RPCError) -> UserPrincipal {
        guard let id = Int64(token.subject), let record = try await read({ try UserRecords($0).find(id: id) }),
            record.epoch == token.epoch
        else { throw Self.revoked }
        return record.principal
    }

    private nonisolated(nonsending) func user(byAPIToken text: String, in context: CallContext) async throws(RPCError)
        -> UserPrincipal
    {
        let now = clock.now()
        guard let text = APITokenText(text: text) else { throw refuse(context) }
        let digest = text.digest(pepper: pepper)
        let found = try await read { connection -> (token: APITokenRecord, user: UserRecord)? in
            guard let token = try APITokenRecords(connection).find(id: text.id),
                let user = try UserRecords(connection).find(id: token.userID)
            else { return nil }
            return (token, user)
        }
        guard let found, constantTimeEqual(found.token.digest, digest), now < found.token.expiresAt else {
            throw refuse(context)
        }
        deferred.noteUse(of: found.token, from: context.peer.host, at: now)
        return try await principal(of: found.token, found.user, named: context.metadata["x-organization"])
    }

    /// Returns the user with the rights that the token leaves them.
    private nonisolated(nonsending) func principal(
        of token: APITokenRecord, _ record: UserRecord, named name: String?
    ) async throws(RPCError) -> UserPrincipal {
        var user = UserPrincipal(
            userID: record.id, name: record.name, role: min(token.scope.role, record.role), epoch: record.epoch,
            home: record.organization, isSystem: record.isSystem)
        user.apiTokenID = token.id
        if let name { try await act(for: name, as: &user) }
        guard let allowed = token.scope.organizations else { return user }
        user.isLimitedToOrganizations = true
        // A token for one other organization acts for it without being told.
        if name == nil, allowed.count == 1, let only = allowed.first, only != user.home.id, user.isSystem,
            user.role >= .admin, let organization = try await read({ try OrganizationRecords($0).reference(id: only) })
        {
            user.organization = organization
        }
        guard allowed.contains(user.organization.id) else {
            throw .permissionDenied(
                "the API token is not for the organization \(user.organization.name): name another one (x-organization)"
            )
        }
        return user
    }

    /// Lets the user act for the organization that the call named.
    private nonisolated(nonsending) func act(for name: String, as user: inout UserPrincipal) async throws(RPCError) {
        user.organization = try await organization(name, for: user)
        user.namesOrganization = true
    }

    /// Returns the organization for which an admin of SYSTEM acts.
    private nonisolated(nonsending) func organization(_ name: String, for user: UserPrincipal) async throws(RPCError)
        -> OrganizationReference
    {
        if name == user.home.name { return user.home }
        guard user.isSystem && user.role >= .admin else {
            throw .permissionDenied("x-organization requires the role admin in the organization system")
        }
        guard let organization = try await read({ try OrganizationRecords($0).find(name: name) }) else {
            throw .notFound("organization \(name) does not exist")
        }
        return organization.reference
    }

    /// Reads single rows by a unique key.
    private nonisolated(nonsending) func read<T: Sendable>(
        _ body: @Sendable (ReadConnection) throws -> T
    ) async throws(RPCError) -> T {
        do {
            return try await database.read(body)
        } catch {
            throw RPCError(of: error) ?? RPCError(.internalError, "the gateway failed").caused(by: error)
        }
    }

    private static var revoked: RPCError { RPCError(.unauthenticated, "the token was revoked") }
}

extension UserRecord {
    package var principal: UserPrincipal {
        UserPrincipal(userID: id, name: name, role: role, epoch: epoch, home: organization, isSystem: isSystem)
    }
}
