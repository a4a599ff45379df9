import ObjectStore
import StoreProtocol

/// The body of a part as its request declares it, with the place that it has among those that write the part.
struct PartBody {
    let start: PartStart
    /// What is wrong with it is told only to who may write the part.
    let payload: Result<Payload, StoreError>
}
