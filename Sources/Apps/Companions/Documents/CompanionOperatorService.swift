import Accounts
import AppProto
import Basics
import Members
import RPC

/// The service CompanionOperatorService: announcements and feedback, for admins of the app's organization.
struct CompanionOperatorService: CompanionOperatorServiceHandler {
    let organization: AppOrganization
    let inbox: CompanionInbox

    func announce(_ request: AnnounceRequest, context: CallContext) async throws -> CompanionOutcome {
        let caller = try self.caller(context)
        let now = inbox.clock.now()
        return try await .of {
            try await inbox.announce(request.text) { connection in
                try Audit.record(caller.did(to: "announcements"), at: now, in: connection)
            }
            return CompanionOutcome(code: 0, msg: "Success")
        }
    }

    func listFeedback(_ request: ListFeedbackRequest, context: CallContext) async throws -> ListFeedbackResponse {
        _ = try caller(context)
        let found = try await inbox.feedback(before: request.before)
        return ListFeedbackResponse(
            feedback: found.map {
                CompanionFeedback(position: $0.id, email: $0.email, text: $0.body, sentAt: RFC3339.text($0.sentAt))
            }, code: 0, msg: "Success")
    }

    private func caller(_ context: CallContext) throws(RPCError) -> Caller {
        let caller = try Caller(context)
        guard caller.organization == organization.reference else {
            throw RPCError.permissionDenied("this call requires the role admin in the organization of the app")
        }
        return caller
    }
}
