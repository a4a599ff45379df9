import Platform

/// What is computed of a body while it arrives. Used by one thread at a time.
struct BodyDigest {
    private let md5 = IncrementalDigest(.md5)
    private var crc64 = CRC64()
    private(set) var count: Int64 = 0

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        md5.update(bytes)
        crc64.update(bytes)
        count += Int64(bytes.count)
    }

    /// The digests of all that came. To be asked once.
    func finalize() -> Stored {
        Stored(size: count, md5: md5.finalize(), crc64: crc64.value)
    }

    struct Stored: Equatable, Sendable {
        let size: Int64
        let md5: [UInt8]
        let crc64: UInt64

        /// - Parameter expected: the request's Content-MD5, decoded; nil where it sent none.
        func verify(_ expected: [UInt8]?) throws(StoreError) {
            guard let expected, expected != md5 else { return }
            throw StoreError(.badDigest, "The Content-MD5 you specified did not match what we received.")
        }
    }
}
