/// What a user asks to have copied, and where to.
struct CopyOrder: Sendable {
    let fileIDs: [String]
    let place: CopyPlace
    let template: KeyTemplate
    /// With which the user asks for it again; `nil` = never.
    let idempotencyKey: String?
    /// The digest of all that the request asked for, but for the idempotency key.
    let digest: [UInt8]
}
