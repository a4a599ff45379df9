import StoreProtocol

extension ExpectedObject {
    /// Compares what the client said of the whole with what was stored.
    func verify(size: Int64, _ checksum: Checksum?) throws(ObjectStoreError) {
        if let expected = self.size, expected != size {
            throw .sizeMismatch(size: size, expected: expected)
        }
        guard let expected = self.checksum, expected != checksum else { return }
        throw .checksumMismatch(expected.algorithm)
    }
}
