import AppProto
import Basics
import Database
import GRPCWire
import HTTPTypes
import RPC

/// The service ShareCodeService, which converts messages and calls the rules.
struct ShareCodeService: ShareCodeServiceHandler {
    let codes: ShareCodeRegistry
    let claims: UmidClaims
    let requests: StatusRequests
    let inbox: Inbox
    let collisions: Collisions
    let health: ShareCodeHealth

    func getHealth(_ request: GetHealthRequest, context: CallContext) async throws -> ServiceHealth {
        let isAvailable = health.isAvailable
        if !isAvailable { context.httpStatus = 503 }
        return ServiceHealth(
            status: isAvailable ? "ok" : "unavailable", timestamp: Self.text(health.now),
            version: ProgramVersion.current)
    }

    func checkShareCode(
        _ request: CheckShareCodeRequest, context: CallContext
    ) async throws -> CheckShareCodeResponse {
        let code = try ShareCode(request.shareCode)
        let isFree = try await Self.converting { try await codes.isFree(code, for: Self.address(context)) }
        return CheckShareCodeResponse(isUnique: isFree, shareCode: code.text)
    }

    func registerShareCode(
        _ request: RegisterShareCodeRequest, context: CallContext
    ) async throws -> RegisterShareCodeResponse {
        let umid = try ShareCodeFields.id(request.umid, field: "umid")
        let code = try ShareCode(request.shareCode)
        let data = try ShareCodeFields.data(request.encryptedData)
        let period = try ShareCodePeriod(
            minutes: request.validityMinutes, expiresAt: request.expiresAt, now: codes.clock.now())
        let end = try await Self.converting {
            // The token is optional here, but not a wrong one.
            let prover = context.metadata.values("authorization").isEmpty ? nil : try await self.umid(of: context)
            return try await codes.register(
                ShareCodeRegistry.Registration(
                    code: code, umid: umid, data: data, period: period, isProven: prover == umid),
                for: Self.address(context))
        }
        return RegisterShareCodeResponse(success: true, shareCode: code.text, expiresAt: Self.text(end))
    }

    func lookUpShareCode(_ request: LookUpShareCodeRequest, context: CallContext) async throws -> SharedData {
        let code = try ShareCode(request.shareCode)
        let shared = try await Self.converting { try await codes.lookUp(code, for: Self.address(context)) }
        return SharedData(
            shareCode: code.text, encryptedData: shared.data, expiresAt: Self.text(shared.expiresAt))
    }

    func claimUmid(_ request: ClaimUmidRequest, context: CallContext) async throws -> ClaimUmidResponse {
        let umid = try ShareCodeFields.id(request.umid, field: "umid")
        let token = try await Self.converting { try await claims.claim(umid, for: Self.address(context)) }
        return ClaimUmidResponse(umid: umid, token: token.text)
    }

    func deleteUmid(_ request: DeleteUmidRequest, context: CallContext) async throws -> DeleteUmidResponse {
        try await Self.converting { try await claims.delete(try await umid(of: context)) }
        return DeleteUmidResponse(success: true)
    }

    func sendStatusRequest(
        _ request: SendStatusRequestRequest, context: CallContext
    ) async throws -> SendStatusRequestResponse {
        let status = StatusRequest(
            id: try ShareCodeFields.id(request.requestID, field: "requestId"),
            sender: try ShareCodeFields.id(request.fromUserID, field: "fromUserId"),
            addressee: try ShareCodeFields.id(request.toUserID, field: "toUserId"),
            message: try ShareCodeFields.message(request.message))
        guard status.sender != status.addressee else {
            throw RPCError.invalid("toUserId", "must not be the sender's")
        }
        let state = try await Self.converting { try await requests.send(status, for: Self.address(context)) }
        return SendStatusRequestResponse(success: true, requestID: status.id, status: state.rawValue)
    }

    func listStatusRequests(
        _ request: ListStatusRequestsRequest, context: CallContext
    ) async throws -> ListStatusRequestsResponse {
        let (items, cursor) = try await Self.converting {
            let umid = try await umid(of: context)
            let query = try InboxQuery(
                status: request.status, cursor: request.after, wait: request.wait, tokens: inbox.tokens,
                scope: Inbox.scope(umid))
            return try await inbox.list(query, of: umid, for: Self.address(context))
        }
        return ListStatusRequestsResponse(
            requests: items.map { item in
                ReceivedStatusRequest(
                    requestID: item.id, fromUserID: item.sender, message: item.message, status: item.state.rawValue,
                    createdAt: Self.text(item.createdAt))
            }, cursor: cursor)
    }

    func answerStatusRequest(
        _ request: AnswerStatusRequestRequest, context: CallContext
    ) async throws -> AnswerStatusRequestResponse {
        try await Self.converting {
            let umid = try await umid(of: context)
            let id = try ShareCodeFields.id(request.requestID, field: "requestId")
            guard let state = StatusRequestState(rawValue: request.status), state.isAnswer else {
                throw RPCError.invalid("status", "must be accepted or declined")
            }
            let data = request.encryptedData.isEmpty ? nil : try ShareCodeFields.data(request.encryptedData)
            try await requests.answer(id, state, data: data, by: umid)
        }
        return AnswerStatusRequestResponse(success: true, requestID: request.requestID, status: request.status)
    }

    func getStatusRequest(
        _ request: GetStatusRequestRequest, context: CallContext
    ) async throws -> SentStatusRequest {
        let (state, data) = try await Self.converting {
            let umid = try await umid(of: context)
            return try await requests.sent(
                try ShareCodeFields.id(request.requestID, field: "requestId"), by: umid)
        }
        return SentStatusRequest(requestID: request.requestID, status: state.rawValue, encryptedData: data)
    }

    func recordCollision(
        _ request: RecordCollisionRequest, context: CallContext
    ) async throws -> RecordCollisionResponse {
        let code = try ShareCode(request.shareCode)
        _ = try ShareCodeFields.time(request.timestamp, field: "timestamp")
        try await Self.converting {
            try await collisions.record(
                code, attempts: Int(request.attempts), length: Int(request.codeLength), for: Self.address(context))
        }
        return RecordCollisionResponse(success: true)
    }

    /// Returns the umid whose token the call has.
    private func umid(of context: CallContext) async throws -> String {
        try await claims.umid(of: context.metadata.values("authorization"))
    }

    /// The address that limits count.
    private static func address(_ context: CallContext) -> String { AddressRange.countedAsOne(context.peer.host) }

    private static func text(_ time: UnixTime) -> String { RFC3339.text(UnixTime(seconds: time.seconds)) }

    /// Runs `body` and converts failures of the database into the app's errors.
    private static func converting<Value: Sendable>(
        _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let error as DatabaseError {
            throw RPCError.shareCodes(error)
        }
    }
}
