import StoreProtocol

extension ExpectedObject {
    /// Compares what the client said of the whole with what was stored.
    func verify(size: Int64, _ checksum: Checksum?) throws(StoreError) {
        if let expected = self.size, expected != size {
            throw StoreError(.invalidRequest, "The object has \(size) bytes, not \(expected).")
        }
        guard let expected = self.checksum, expected != checksum else { return }
        throw StoreError(
            .badDigest, "The \(expected.algorithm.rawValue) you specified did not match the calculated checksum.")
    }
}
