import Accounts
import Basics
import GatewayAPI
import RPC

/// The key that makes a repeated CreateLogicalUpload the same call: for a day, the same principal gets the same upload.
///
/// The request must have the same `restart_from_upload_id` as well, since it determines the upload. Other hints may differ.
struct IdempotencyKey: Sendable, Hashable {
    static let field = #"client_hints["idempotency_key"]"#
    static let lifetime = Duration.days(1)

    let text: String

    /// - Parameter callID: the name that a balancer gave the call: the key if the hints contain none.
    /// - Returns: `nil` if there is neither.
    /// - Throws: INVALID_ARGUMENT if the key is empty, longer than 128 bytes or contains control characters.
    init?(hints: [String: String], callID: String?) throws(RPCError) {
        guard let text = hints["idempotency_key"] ?? callID.map({ "call \($0)" }) else { return nil }
        try FieldRules.title(text, field: Self.field)
        self.text = text
    }

    /// - Returns: `nil` if the text is empty, which stands for no key.
    /// - Throws: INVALID_ARGUMENT as for a key in hints.
    init?(_ text: String) throws(RPCError) {
        guard !text.isEmpty else { return nil }
        try FieldRules.title(text, field: "idempotency_key")
        self.text = text
    }

    /// Returns the time before which uses of keys are forgotten.
    static func oldestUse(at now: UnixTime) -> UnixTime {
        now.subtracting(lifetime)
    }
}
