import COpenSSL

/// Unpredictable bytes from OpenSSL's generator.
package enum Random {
    /// - Parameter count: the number of bytes, at least 0.
    package static func bytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            // Without randomness no secret is safe, and no caller could recover from that.
            precondition(RAND_bytes(buffer.baseAddress, Int32(count)) == 1, "the system has no randomness")
            filled = count
        }
    }
}
