/// The client's description of the whole object when it completes a multipart upload. `nil` = not given.
package struct ExpectedObject: Equatable {
    package var size: Int64?
    package var checksum: Checksum?
    /// The condition on the replaced object.
    package var condition = WriteCondition.none

    package init(size: Int64? = nil, checksum: Checksum? = nil, condition: WriteCondition = .none) {
        self.size = size
        self.checksum = checksum
        self.condition = condition
    }
}
