/// The contents of a valid CreateCopyJob request.
struct CopyOrder: Sendable {
    let fileIDs: [String]
    let place: CopyPlace
    let template: KeyTemplate
    /// The idempotency key; `nil` = none.
    let idempotencyKey: String?
    /// The digest of the request without the idempotency key.
    let digest: [UInt8]
}
