import StoreProtocol

extension ExpectedObject {
    /// Compares the client's description of the object with the stored one.
    func verify(size: Int64, _ checksum: Checksum?) throws(ObjectStoreError) {
        if let expected = self.size, expected != size {
            throw .sizeMismatch(size: size, expected: expected)
        }
        guard let expected = self.checksum, expected != checksum else { return }
        throw .checksumMismatch(expected.algorithm)
    }
}
