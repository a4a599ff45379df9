import Accounts
import AppProto
import Basics
import Database
import GRPCWire
import HTTPTypes
import Identity
import Members
import RPC

/// The service ProfileService: what users see and change of themselves.
struct ProfileService: ProfileServiceHandler {
    let store: ProfileStore
    let accounts: Accounts
    let writes: WriteLimit
    let members: MemberAccounts

    func getMe(_ request: GetMeRequest, context: CallContext) async throws -> SignInUser {
        try await store.caller(context).message
    }

    func updateMe(_ request: UpdateMeRequest, context: CallContext) async throws -> SignInUser {
        let nickname = try request.nickname.map { text throws(RPCError) in try ProfileText.nickname(text) }
        let avatar = try request.avatarURL.map { text throws(RPCError) in try ProfileText.avatarURL(text) }
        let caller = try await store.caller(context)
        try writes.count(caller.user.id)
        let now = store.clock.now()
        return try await store.database.write { [store] connection in
            var member = try store.member(caller.user, in: connection)
            if let nickname { member.profile.nickname = nickname }
            if let avatar { member.profile.avatarURL = avatar }
            if let isOnboarded = request.onboardingCompleted { member.profile.isOnboarded = isOnboarded }
            try ProfileRecords(connection).update(member.profile, at: now)
            return member.message
        }
    }

    func deleteMe(_ request: DeleteMeRequest, context: CallContext) async throws -> DeleteMeResponse {
        let caller = try store.organization.member(context)
        try await members.delete(caller.userID, from: context.peer.host)
        return DeleteMeResponse(success: true)
    }

    func setStatus(_ request: SetStatusRequest, context: CallContext) async throws -> SignInUser {
        let caller = try Caller(context)
        guard caller.organization == store.organization.reference else {
            throw RPCError.permissionDenied("this call requires the role admin in the organization of the app")
        }
        guard let status = ProfileRecord.Status(rawValue: request.status) else {
            throw RPCError(bare: .invalidArgument, "status must be ACTIVE or DISABLED")
        }
        let now = store.clock.now()
        return try await store.database.write(mayUseReserve: true) { [accounts, store] connection in
            guard var member = try store.find(request.id, at: now, in: connection) else {
                throw RPCError.notFound("user \(request.id.prefix(64)) does not exist")
            }
            member.profile.status = status
            try ProfileRecords(connection).update(member.profile, at: now)
            if status == .disabled {
                try accounts.externalSignIns.endSessions(of: member.user, at: now, in: connection)
            }
            try Audit.record(caller.did(to: "users/\(member.user.id)"), at: now, in: connection)
            return member.message
        }
    }

    func exportMe(_ request: ExportMeRequest, context: CallContext) async throws -> PersonalData {
        let caller = try await store.caller(context)
        return try await store.database.readInBackground { connection in
            let id = caller.user.id
            return PersonalData(
                user: caller.message, createdAt: RFC3339.text(caller.profile.createdAt),
                identities: try Identity.identities(ofUser: id, in: connection).map(\.message),
                knowledgeBases: try KnowledgeBaseRecords(connection).allWithDeleted(userID: id).map {
                    $0.message(of: caller.profile, withDeletion: true)
                },
                sessions: try Accounts.sessions(ofUser: id, in: connection).map(\.message))
        }
    }
}

extension UserIdentityRecord {
    fileprivate var message: SignInIdentity {
        SignInIdentity(
            provider: issuer == DevelopmentSignIn.issuer ? "DEV" : "APPLE", providerUserID: subject, email: email,
            createdAt: RFC3339.text(createdAt), lastUsedAt: RFC3339.text(lastUsedAt))
    }
}

extension SessionSummary {
    fileprivate var message: SignInPlace {
        SignInPlace(
            address: address, createdAt: RFC3339.text(createdAt), lastUsedAt: RFC3339.text(lastUsedAt))
    }
}
