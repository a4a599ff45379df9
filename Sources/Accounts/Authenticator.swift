import Basics
import Database
import GatewayAPI
import RPC

/// The authentication of every listener: identifies the caller and checks the access table.
///
/// A token's signature is cached, but its key, user and site are read from the database at each call, by primary key, so that an
/// operator's revocation takes effect with the next call.
package struct Authenticator: Interceptor {
    let database: Database
    let tokens: AccessTokens
    let deferred: DeferredRecords
    let clock: any WallClock
    let auditPressure: AuditPressure
    /// Whether a client certificate is accepted instead of a token if the access table allows it. True for listeners with
    /// authorities for that purpose.
    package var trustsCertificates = false

    package func admit(_ context: CallContext) throws(RPCError) {
        guard let access = AccessTable.access(to: context.method.path) else {
            throw .permissionDenied("no role may call \(context.method.path)")
        }
        try identify(context, access)
        if let principal = context.principal, !AccessTable.onlyReads(context.method.name) {
            try auditPressure.admit(principal)
        }
    }

    private func identify(_ context: CallContext, _ access: Access) throws(RPCError) {
        switch access {
        case .anyone: return
        case .apiKey:
            let principal = try keyOwner(of: try token([.apiKey], in: context))
            context.identity = principal
            context.workOwner = principal.workOwner
        case .user(let role):
            try admit(context, needing: "the role \(role)") { $0.role >= role }
        case .systemAdmin: try admitSystemAdmin(context)
        case .systemAdminOrCertificate:
            // A caller with both is identified by the token.
            if trustsCertificates, let subject = context.clientCertificate, context.metadata["authorization"] == nil {
                let principal = Principal.certificate(subject: subject)
                context.identity = principal
                context.workOwner = principal.workOwner
            } else {
                try admitSystemAdmin(context)
            }
        }
    }

    private func admitSystemAdmin(_ context: CallContext) throws(RPCError) {
        try admit(context, needing: "the role admin in the organization system") { $0.isSystem && $0.role >= .admin }
    }

    private func admit(
        _ context: CallContext, needing what: String, where mayCall: (UserPrincipal) -> Bool
    ) throws(RPCError) {
        let user = try user(of: try token([.user, .system], in: context), in: context)
        let principal = Principal.user(user)
        context.identity = principal
        context.workOwner = principal.workOwner
        guard mayCall(user) else {
            let refusal = RPCError.permissionDenied("this call requires \(what)")
            var entry = try Caller(context).did(to: "")
            entry.result = refusal.code
            deferred.note(entry, at: clock.now())
            throw refusal
        }
    }

    private func token(_ kinds: Set<TokenKind>, in context: CallContext) throws(RPCError) -> AccessToken {
        let headers = context.metadata.values("authorization")
        guard let header = headers.first, headers.count == 1 else {
            throw RPCError(.unauthenticated, "the call requires one authorization header with a bearer token")
        }
        // On bytes: on characters it takes several times as long as everything else here.
        let parts = header.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true)
        guard parts.count == 2, String(Substring(parts[0])).lowercased() == "bearer" else {
            throw RPCError(.unauthenticated, "the authorization header must have the form: Bearer TOKEN")
        }
        let now = clock.now()
        guard let token = tokens.verify(String(Substring(parts[1])), at: now) else {
            deferred.noteDenial(
                context.method.name, DetailCode.unauthenticated.rawValue, host: context.peer.host, at: now)
            throw RPCError(.unauthenticated, "the token is not valid or has expired")
        }
        guard kinds.contains(token.kind) else {
            throw RPCError(.unauthenticated, "this service does not accept a token of this kind")
        }
        return token
    }

    private func keyOwner(of token: AccessToken) throws(RPCError) -> Principal {
        let now = clock.now()
        let key = try read { try APIKeyRecords($0).find(id: token.subject) }
        guard let key, key.epoch == token.epoch, key.usability(at: now) == .usable else { throw Self.revoked }
        deferred.noteUse(of: key, at: now)
        return switch key.principal {
        case .device(let device): .device(device)
        case .site(let site): .site(site)
        }
    }

    private func user(of token: AccessToken, in context: CallContext) throws(RPCError) -> UserPrincipal {
        guard let id = Int64(token.subject), let record = try read({ try UserRecords($0).find(id: id) }),
            record.epoch == token.epoch
        else { throw Self.revoked }
        var user = record.principal
        if let name = context.metadata["x-organization"] { user.organization = try organization(name, for: user) }
        return user
    }

    /// Returns the organization for which an admin of SYSTEM acts.
    private func organization(_ name: String, for user: UserPrincipal) throws(RPCError) -> OrganizationReference {
        if name == user.home.name { return user.home }
        guard user.isSystem && user.role >= .admin else {
            throw .permissionDenied("x-organization requires the role admin in the organization system")
        }
        guard let organization = try read({ try OrganizationRecords($0).find(name: name) }) else {
            throw .notFound("organization \(name) does not exist")
        }
        return organization.reference
    }

    /// Reads single rows by a unique key. This blocks the call's loop, because interceptors are synchronous.
    private func read<T>(_ body: (Connection) throws -> T) throws(RPCError) -> T {
        do {
            return try database.readBlocking(body)
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
