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

    /// - Parameter other: the key if the hints contain none; `nil` = none.
    /// - Returns: `nil` if there is neither.
    /// - Throws: INVALID_ARGUMENT if the key is empty, longer than 128 bytes or contains control characters.
    init?(hints: [String: String], else other: String?) throws(RPCError) {
        try self.init(hints["idempotency_key"] ?? other, field: Self.field)
    }

    /// - Parameters:
    ///   - text: of a request's field; empty stands for no key.
    ///   - other: the key if the text is empty; `nil` = none.
    /// - Returns: `nil` if there is neither.
    /// - Throws: INVALID_ARGUMENT as for a key in hints.
    init?(_ text: String, else other: String?) throws(RPCError) {
        try self.init(text.isEmpty ? other : text, field: "idempotency_key")
    }

    private init?(_ text: String?, field: String) throws(RPCError) {
        guard let text else { return nil }
        try FieldRules.title(text, field: field)
        self.text = text
    }

    /// Returns the time before which uses of keys are forgotten.
    static func oldestUse(at now: UnixTime) -> UnixTime {
        now.subtracting(lifetime)
    }
}
