/// What a client says of the whole when it completes a multipart upload. Nil: it says nothing.
package struct ExpectedObject: Equatable {
    package var size: Int64?
    package var checksum: Checksum?
    /// The condition on what the object replaces.
    package var condition = WriteCondition.none

    package init(size: Int64? = nil, checksum: Checksum? = nil, condition: WriteCondition = .none) {
        self.size = size
        self.checksum = checksum
        self.condition = condition
    }
}
