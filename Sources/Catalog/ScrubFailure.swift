/// The reason why the scrubber could not verify an object.
struct ScrubFailure: Error, CustomStringConvertible {
    let fileID: String
    let cause: any Error

    var description: String { "the object \(fileID) was skipped: \(cause)" }
}
