import Basics

/// An argument with a number of bytes above 0: `1048576`, `500KB`, `1.5MiB`.
package struct ByteQuantityArgument: ArgumentValue, Hashable, Sendable {
    package let bytes: Int64

    package init(argument: String) throws(ArgumentProblem) {
        guard let bytes = ByteQuantity.bytes(argument), bytes > 0 else {
            throw ArgumentProblem("must be a number of bytes such as 1048576, 500KB or 1.5MiB, not '\(argument)'")
        }
        self.bytes = bytes
    }
}
