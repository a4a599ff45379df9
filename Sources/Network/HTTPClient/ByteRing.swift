/// A bounded queue of bytes. Its memory is allocated with the first bytes.
struct ByteRing {
    let capacity: Int
    private var storage: [UInt8] = []
    private var start = 0
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    var free: Int { capacity - count }

    /// Appends as many of the bytes as there is space for.
    ///
    /// - Returns: their number.
    mutating func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        let accepted = min(bytes.count, free)
        guard accepted > 0 else { return 0 }
        if storage.isEmpty { storage = [UInt8](repeating: 0, count: capacity) }
        let end = (start + count) % capacity
        let first = min(accepted, capacity - end)
        storage.withUnsafeMutableBytes { storage in
            UnsafeMutableRawBufferPointer(rebasing: storage[end..<end + first])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<first]))
            UnsafeMutableRawBufferPointer(rebasing: storage[..<(accepted - first)])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[first..<accepted]))
        }
        count += accepted
        return accepted
    }

    /// Moves the first bytes into the buffer, as many as it can hold.
    ///
    /// - Returns: their number.
    mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let taken = min(buffer.count, count)
        guard taken > 0 else { return 0 }
        let first = min(taken, capacity - start)
        storage.withUnsafeBytes { storage in
            UnsafeMutableRawBufferPointer(rebasing: buffer[..<first])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[start..<start + first]))
            UnsafeMutableRawBufferPointer(rebasing: buffer[first..<taken])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[..<(taken - first)]))
        }
        start = (start + taken) % capacity
        count -= taken
        return taken
    }

    /// Moves the first bytes into an array.
    mutating func take(atMost limit: Int) -> [UInt8] {
        let size = min(limit, count)
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
            initialized = take(
                into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<size]))
        }
    }
}
