/// Returns bytes that differ between seeds and between positions.
package func content(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    // Eight bytes at a time, and without calls of generic code, which take most of the time of a debug build.
    [UInt8](unsafeUninitializedCapacity: (count + 7) & ~7) { buffer, initialized in
        let bytes = UnsafeMutableRawBufferPointer(buffer)
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        var position = 0
        while position < count {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            bytes.storeBytes(of: state, toByteOffset: position, as: UInt64.self)
            position += 8
        }
        initialized = count
    }
}
