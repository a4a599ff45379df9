import AppProto

/// The result of a call that did not do what was asked, in the call's own codes. The text is for the person.
struct CompanionResult: Error, Sendable, Hashable {
    let code: Int32
    let message: String

    init(_ code: Int32, _ message: String) {
        self.code = code
        self.message = message
    }

    static let unknownAddress = CompanionResult(-1, "Email does not exist")
    static let wrongPassword = CompanionResult(0, "Wrong Password")

    var outcome: CompanionOutcome { CompanionOutcome(code: code, msg: message) }
}

extension CompanionOutcome {
    /// Runs a call whose refusals are responses.
    static func of(_ body: () async throws -> CompanionOutcome) async throws -> CompanionOutcome {
        do {
            return try await body()
        } catch let refusal as CompanionResult {
            return refusal.outcome
        }
    }
}
