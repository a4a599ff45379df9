import Accounts
import AppProto
import Basics
import Database
import GRPCWire
import Members
import RPC

/// The service CompanionAccountService, which converts messages and calls the rules.
struct CompanionAccountService: CompanionAccountServiceHandler {
    private static let success = "Success"

    let callers: CompanionCallers
    let limits: CompanionLimits
    let registration: Registration
    let matching: Matching
    let inbox: CompanionInbox

    func cancelMatch(_ request: CancelMatchRequest, context: CallContext) async throws -> CompanionOutcome {
        try await change(context) { try await matching.cancel($0.id) }
    }

    func leaveMatch(_ request: LeaveMatchRequest, context: CallContext) async throws -> CompanionOutcome {
        try await change(context) { try await matching.leave($0.id) }
    }

    func blockCompanion(_ request: BlockCompanionRequest, context: CallContext) async throws -> CompanionOutcome {
        try await change(context) { user in
            try await matching.block(try await callers.userID(of: request.email), by: user.id)
        }
    }

    func unblockCompanion(_ request: BlockCompanionRequest, context: CallContext) async throws -> CompanionOutcome {
        try await change(context) { user in
            try await matching.unblock(try await callers.userID(of: request.email), by: user.id)
        }
    }

    func setWilling(_ request: SetWillingRequest, context: CallContext) async throws -> CompanionOutcome {
        try await change(context) { user in
            try await matching.setPreferences(
                of: user.id, isWilling: request.willing, sharesMobile: request.shareMobile)
        }
    }

    func changePassword(
        _ request: ChangeCompanionPasswordRequest, context: CallContext
    ) async throws -> CompanionOutcome {
        try await .of {
            do {
                let credential = try await registration.changePassword(
                    email: request.email, pass: request.pass, new: request.newPass, context)
                context.responseMetadata.append(name: "set-cookie", value: callers.sessions.cookie(for: credential))
            } catch let refusal as CompanionResult where refusal == .wrongPassword {
                // The code 0 is the success of this call.
                throw CompanionResult(-1, refusal.message)
            }
            return CompanionOutcome(code: 0, msg: Self.success)
        }
    }

    func listPlans(_ request: ListPlansRequest, context: CallContext) async throws -> ListPlansResponse {
        ListPlansResponse(plans: matching.plans.plans, code: 0, msg: Self.success)
    }

    func listMessages(_ request: ListMessagesRequest, context: CallContext) async throws -> ListMessagesResponse {
        do {
            let user = try await callers.member(context)
            try limits.countRead(user.id)
            let found = try await inbox.list(user.id, after: request.after)
            return ListMessagesResponse(messages: found.map(\.message), code: 0, msg: Self.success)
        } catch let refusal as CompanionResult {
            return ListMessagesResponse(code: refusal.code, msg: refusal.message)
        }
    }

    func watchMessages(
        _ request: ListMessagesRequest, responses: ResponseWriter<InboxMessage>, context: CallContext
    ) async throws {
        do {
            let user = try await callers.member(context)
            try limits.countRead(user.id)
            try await inbox.watch(
                user.id, after: request.after, isValid: { try await callers.sessions.member(context) != nil }
            ) { try await responses.write($0.message) }
        } catch let refusal as CompanionResult {
            throw RPCError(bare: .permissionDenied, refusal.message)
        }
    }

    func exportCompanion(_ request: ExportCompanionRequest, context: CallContext) async throws -> CompanionAccount {
        do {
            let user = try await callers.member(context)
            try limits.countRead(user.id)
            return try await callers.database.read { connection in
                guard let profile = try MemberProfileRecords(connection).find(user.id) else {
                    throw CompanionResult.unknownAddress
                }
                return CompanionAccount(
                    user: try CompanionDocuments.message(user.id, credential: "", in: connection),
                    blocked: try FriendRecords(connection).blockedEmails(of: user.id), willing: profile.isWilling,
                    shareMobile: profile.sharesMobile, createdAt: RFC3339.text(profile.createdAt), code: 0,
                    msg: Self.success)
            }
        } catch let refusal as CompanionResult {
            return CompanionAccount(code: refusal.code, msg: refusal.message)
        }
    }

    func deleteCompanion(_ request: DeleteCompanionRequest, context: CallContext) async throws -> CompanionOutcome {
        try await change(context) { user in
            try await registration.delete(user, context)
            context.responseMetadata.append(name: "set-cookie", value: callers.sessions.removal)
        }
    }

    /// Runs a change by the member of the call's cookie.
    private func change(
        _ context: CallContext, _ body: (UserRecord) async throws -> Void
    ) async throws -> CompanionOutcome {
        try await .of {
            let user = try await callers.member(context)
            try limits.countChange(user.id)
            try await body(user)
            return CompanionOutcome(code: 0, msg: Self.success)
        }
    }
}

extension MessageRecord {
    fileprivate var message: InboxMessage {
        InboxMessage(position: id, msg: body, isUser: isUser, isRead: isRead, sentAt: RFC3339.text(sentAt))
    }
}
