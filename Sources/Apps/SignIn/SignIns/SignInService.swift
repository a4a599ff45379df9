import AppProto
import Crypto
import GRPCWire
import RPC

/// The service SignInService, which converts messages and calls the rules.
struct SignInService: SignInServiceHandler {
    let development: DevelopmentSignIn
    /// `nil` = the configuration has no provider for Apple.
    let apple: AppleSignIn?
    let sessions: SignInSessions

    func devLogin(_ request: DevLoginRequest, context: CallContext) async throws -> SignInSession {
        let session = try await development.open(
            email: request.email, nickname: request.nickname, secret: Secret(request.devSecret), context)
        return try await sessions.message(for: session)
    }

    func createNonce(_ request: CreateNonceRequest, context: CallContext) async throws -> CreateNonceResponse {
        CreateNonceResponse(nonce: try configuredApple().nonce())
    }

    func signInWithApple(_ request: SignInWithAppleRequest, context: CallContext) async throws -> SignInSession {
        let apple = try configuredApple()
        try require(request.identityToken, "identityToken")
        return try await sessions.message(for: try await apple.open(request, context))
    }

    func notifyByApple(_ request: NotifyByAppleRequest, context: CallContext) async throws -> NotifyByAppleResponse {
        let apple = try configuredApple()
        try require(request.payload, "payload")
        try await apple.notify(request.payload, context)
        return NotifyByAppleResponse()
    }

    func refreshSession(_ request: RefreshSessionRequest, context: CallContext) async throws -> SignInSession {
        try require(request.refreshToken, "refreshToken")
        return try await sessions.refresh(request.refreshToken, context)
    }

    func endSession(_ request: EndSessionRequest, context: CallContext) async throws -> EndSessionResponse {
        try require(request.refreshToken, "refreshToken")
        try await sessions.end(request.refreshToken, context)
        return EndSessionResponse(success: true)
    }

    private func configuredApple() throws(RPCError) -> AppleSignIn {
        guard let apple else { throw RPCError(bare: .unauthenticated, "Apple 登录未配置,请联系管理员") }
        return apple
    }

    private func require(_ text: String, _ field: String) throws(RPCError) {
        guard !text.isEmpty else { throw RPCError(bare: .invalidArgument, "\(field) should not be empty") }
    }
}
