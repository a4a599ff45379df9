/// Why the scrubber could not say whether an object is intact.
struct ScrubFailure: Error, CustomStringConvertible {
    let fileID: String
    let cause: any Error

    var description: String { "the object \(fileID) was skipped: \(cause)" }
}
