import Basics
import HTTPClient
import ObjectStore

/// The bytes of an object in the store, as the source of a copy.
final class ObjectBytes: RangedBytes {
    /// Used by one thread at a time.
    private let bytes: Lock<any StoredBytes>

    init(_ bytes: sending any StoredBytes) {
        self.bytes = Lock(bytes)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try bytes.withLock { try $0.readPassing(into: buffer, at: offset) }
    }
}
