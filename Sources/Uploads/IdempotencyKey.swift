import Accounts
import Basics
import GatewayAPI
import RPC

/// What makes a CreateLogicalUpload that is sent again the same call: for a day, the same principal gets the same upload.
///
/// The request beside it is compared as far as it shapes the upload: `restart_from_upload_id`. Other hints may differ.
struct IdempotencyKey: Sendable, Hashable {
    static let field = #"client_hints["idempotency_key"]"#
    static let lifetime = Duration.days(1)

    let text: String

    /// - Returns: `nil` where the hints have none.
    /// - Throws: INVALID_ARGUMENT for one that is empty, longer than 128 bytes or has control characters.
    init?(hints: [String: String]) throws(RPCError) {
        guard let text = hints["idempotency_key"] else { return nil }
        try FieldRules.title(text, field: Self.field)
        self.text = text
    }

    /// A use before then is forgotten.
    static func oldestUse(at now: UnixTime) -> UnixTime {
        now.subtracting(lifetime)
    }
}
