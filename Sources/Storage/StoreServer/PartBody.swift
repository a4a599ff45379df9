import ObjectStore
import StoreProtocol

/// The declared body of a part, with its place among the writers of the part.
struct PartBody {
    let start: PartStart
    /// The body; its error is reported only to clients that may write the part.
    let payload: Result<Payload, StoreError>
}
