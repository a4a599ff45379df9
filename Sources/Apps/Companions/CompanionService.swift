import Accounts
import AppProto
import CommonProto
import Crypto
import GRPCWire
import Members
import RPC

/// The service CompanionService, which converts messages and calls the rules.
struct CompanionService: CompanionServiceHandler {
    let callers: CompanionCallers
    let limits: CompanionLimits
    let registration: Registration
    let documents: CompanionDocuments
    let pictures: MemberPictures
    let matching: Matching
    let metrics: CompanionMetrics

    func registerCompanion(
        _ request: RegisterCompanionRequest, context: CallContext
    ) async throws -> CompanionOutcome {
        try await .of {
            let credential = try await registration.register(
                name: request.name, email: request.email, pass: request.pass, picture: request.file?.content ?? [],
                context)
            metrics.registered()
            context.responseMetadata.append(name: "set-cookie", value: callers.sessions.cookie(for: credential))
            return CompanionOutcome(code: 0, msg: "Register succeed")
        }
    }

    func logInCompanion(_ request: CompanionCredentials, context: CallContext) async throws -> CompanionOutcome {
        try await .of {
            _ = try await callers.openSession(callers.prove(request.email, request.pass, context), context)
            return CompanionOutcome(code: 1, msg: "Login success")
        }
    }

    func getCompanion(_ request: CompanionCredentials, context: CallContext) async throws -> Companion {
        try await Companion.of {
            let proven = try await callers.prove(request.email, request.pass, context)
            try limits.countRead(proven.user.id)
            let credential = try await callers.openSession(proven, context)
            return try await documents.own(proven.user.id, credential: credential)
        }
    }

    func changeCompanion(_ request: Companion, context: CallContext) async throws -> CompanionOutcome {
        try await .of {
            let userID = try await self.userID(
                request.email ?? "", request.password ?? "", else: "Update Failure", context)
            try limits.countChange(userID)
            try await documents.change(userID, to: request)
            return CompanionOutcome(code: 0, msg: "Update Success")
        }
    }

    func getFriend(_ request: CompanionCredentials, context: CallContext) async throws -> Companion {
        try await Companion.of {
            let user = try await callers.member(context)
            try limits.countRead(user.id)
            return try await documents.friend(try await callers.userID(of: request.email), for: user.id)
        }
    }

    func uploadPicture(_ request: UploadPictureRequest, context: CallContext) async throws -> CompanionOutcome {
        try await .of {
            let userID = try await self.userID(request.email, request.pass, else: "Post Failure", context)
            try limits.countPicture(userID)
            return CompanionOutcome(
                code: 0, msg: try await pictures.replace(of: userID, with: request.file?.content ?? []))
        }
    }

    func requestMatch(_ request: CompanionMatchRequest, context: CallContext) async throws -> CompanionOutcome {
        try await .of {
            let user = try await callers.member(context, named: request.email)
            try limits.countChange(user.id)
            let result = try await matching.request(
                request.taskID, of: user.id, traceparent: context.trace?.traceparent)
            if result == .matched { metrics.matched() }
            return CompanionOutcome(code: 0, msg: "add queue success")
        }
    }

    func getMatch(_ request: CompanionMatchRequest, context: CallContext) async throws -> CompanionOutcome {
        try await .of {
            let none = CompanionResult(1, "No queue info")
            let user = try await callers.member(context, named: request.email, else: none)
            try limits.countRead(user.id)
            switch try await matching.report(of: user.id) {
            case .matched(let partner): return CompanionOutcome(code: 0, msg: partner)
            case .waiting: throw CompanionResult(-1, "Haven't find out. Plz wait")
            case .none: throw none
            }
        }
    }

    func getPicture(_ request: GetPictureRequest, context: CallContext) async throws -> HttpBody {
        guard let (picture, isStandard) = try await pictures.find(request.filename) else {
            throw RPCError.notFound("the picture does not exist")
        }
        let isReplaced = isStandard && request.filename != MemberPictures.standardName
        let fields = [
            ("x-content-type-options", "nosniff"), ("content-security-policy", "default-src 'none'"),
            // A name stands for the same bytes as long as it exists.
            ("cache-control", isReplaced ? "no-store" : "private, max-age=31536000, immutable"),
        ]
        for (name, value) in fields { context.responseMetadata.append(name: name, value: value) }
        return HttpBody(contentType: picture.contentType, data: picture.content)
    }

    /// Returns the member of the call's cookie if that has the address, or of the address with a password or a credential.
    ///
    /// - Parameter failure: the text with the code -1, since 0 is the success of these calls.
    private func userID(
        _ email: String, _ pass: String, else failure: String, _ context: CallContext
    ) async throws -> Int64 {
        do {
            return try await callers.member(context, named: email).id
        } catch is CompanionResult {}
        do {
            return try await callers.prove(email, pass, context).user.id
        } catch is CompanionResult {
            throw CompanionResult(-1, failure)
        }
    }
}

extension Companion {
    /// Runs a call whose refusals are responses with a code and a text only.
    fileprivate static func of(_ body: () async throws -> Companion) async throws -> Companion {
        do {
            return try await body()
        } catch let refusal as CompanionResult {
            return Companion(code: refusal.code, msg: refusal.message)
        }
    }
}
