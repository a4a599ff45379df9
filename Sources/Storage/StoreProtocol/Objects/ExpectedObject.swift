/// What a client says of the whole when it completes a multipart upload. Nil: it says nothing.
package struct ExpectedObject: Equatable {
    package var size: Int64?
    package var checksum: Checksum?

    package init(size: Int64? = nil, checksum: Checksum? = nil) {
        self.size = size
        self.checksum = checksum
    }
}
