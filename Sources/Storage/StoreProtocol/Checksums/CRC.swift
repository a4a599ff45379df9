/// A cyclic redundancy check of 32 or 64 bits: reflected, with all ones as the initial value and for the final inversion, like
/// CRC-32, CRC-32C, CRC-64/NVME and CRC-64/XZ.
package struct CRC: Sendable {
    /// The polynomial with reversed bits: the lowest is the coefficient of the highest power.
    private let polynomial: UInt64
    /// The coefficient of x^0.
    private let one: UInt64
    private let mask: UInt64
    /// Eight bytes are processed at once ("slicing by 8"): `tables[256 * n + byte]` is the effect of a byte followed by n bytes.
    /// Empty if checksums are only combined.
    private let tables: [UInt64]

    /// CRC-32C (RFC 3720, section 12.1).
    package static let crc32c = CRC(polynomial: 0x82F6_3B78, width: 32, computes: true)
    /// CRC-64/NVME (NVM Express, "64b CRC"), the default of S3.
    package static let crc64nvme = CRC(polynomial: 0x9A6C_9329_AC4B_C9B5, width: 64, computes: true)
    /// CRC-32 (ISO 3309), for combining only: liblzma computes the server's.
    package static let crc32 = CRC(polynomial: 0xEDB8_8320, width: 32, computes: false)
    /// CRC-64 (ECMA-182), OSS's `crc64ecma`. Clients compute it here, so that a device needs no liblzma; the server uses that
    /// library, which has carry-less multiplication.
    package static let crc64 = CRC(polynomial: 0xC96C_5795_D787_0F42, width: 64, computes: true)

    private init(polynomial: UInt64, width: Int, computes: Bool) {
        self.polynomial = polynomial
        one = 1 << UInt64(width - 1)
        mask = .max >> UInt64(64 - width)
        var tables: [UInt64] = []
        if computes {
            for byte in 0..<256 as Range<UInt64> {
                tables.append((0..<8).reduce(byte) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ polynomial : crc >> 1 })
            }
            for place in 256..<8 * 256 {
                let before = tables[place - 256]
                tables.append(before >> 8 ^ tables[Int(before & 0xFF)])
            }
        }
        self.tables = tables
    }

    /// Returns the CRC of the bytes of `crc` followed by `bytes`; the initial value is 0.
    package func updated(_ crc: UInt64, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
        tables.withUnsafeBufferPointer { tables in
            guard bytes.count >= Self.minimumForLanes else { return end(crc ^ mask, bytes, tables) }
            // Each step depends on the previous one, so four pieces in parallel take little longer than one.
            let length = bytes.count / 32 * 8
            var lanes = (crc ^ mask, mask, mask, mask)
            for place in stride(from: 0, to: length, by: 8) {
                lanes.0 = step(lanes.0, bytes, place, tables)
                lanes.1 = step(lanes.1, bytes, length + place, tables)
                lanes.2 = step(lanes.2, bytes, 2 * length + place, tables)
                lanes.3 = step(lanes.3, bytes, 3 * length + place, tables)
            }
            let power = power(of: Int64(length))
            let whole = [lanes.1, lanes.2, lanes.3].reduce(lanes.0 ^ mask) { multiply($0, power) ^ $1 ^ mask }
            return end(whole ^ mask, UnsafeRawBufferPointer(rebasing: bytes[(4 * length)...]), tables)
        }
    }

    /// The number of bytes below which combining the CRCs of pieces costs more than the parallel computation saves.
    private static let minimumForLanes = 32 << 10

    /// Returns the state after the eight bytes at `place`.
    @inline(__always)
    private func step(
        _ state: UInt64, _ bytes: UnsafeRawBufferPointer, _ place: Int, _ tables: UnsafeBufferPointer<UInt64>
    ) -> UInt64 {
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)) ^ state
        // Not in a loop, because the compiler would not unroll it.
        let far =
            tables[Int(truncatingIfNeeded: 1792 + (word & 0xFF))]
            ^ tables[Int(truncatingIfNeeded: 1536 + (word >> 8 & 0xFF))]
            ^ tables[Int(truncatingIfNeeded: 1280 + (word >> 16 & 0xFF))]
            ^ tables[Int(truncatingIfNeeded: 1024 + (word >> 24 & 0xFF))]
        return far ^ tables[Int(truncatingIfNeeded: 768 + (word >> 32 & 0xFF))]
            ^ tables[Int(truncatingIfNeeded: 512 + (word >> 40 & 0xFF))]
            ^ tables[Int(truncatingIfNeeded: 256 + (word >> 48 & 0xFF))]
            ^ tables[Int(truncatingIfNeeded: word >> 56)]
    }

    /// Returns the CRC of a message that ends with `bytes`; `state` is the state before them.
    private func end(
        _ state: UInt64, _ bytes: UnsafeRawBufferPointer, _ tables: UnsafeBufferPointer<UInt64>
    ) -> UInt64 {
        var state = state
        var place = 0
        while place + 8 <= bytes.count {
            state = step(state, bytes, place, tables)
            place += 8
        }
        for byte in bytes[place...] {
            state = state >> 8 ^ tables[Int(truncatingIfNeeded: (state ^ UInt64(byte)) & 0xFF)]
        }
        return state ^ mask
    }

    /// Returns the CRC of two consecutive messages, from both CRCs and the second one's length, without their bytes.
    package func combine(_ first: UInt64, _ second: UInt64, secondLength: Int64) -> UInt64 {
        multiply(first, power(of: secondLength)) ^ second
    }

    /// Returns x^(8 * `length`) modulo the polynomial: appending that many bytes multiplies a CRC by it, like in zlib's
    /// `crc32_combine`.
    private func power(of length: Int64) -> UInt64 {
        var power = one
        var square = one >> 8
        var length = length
        while length > 0 {
            if length & 1 == 1 {
                power = multiply(power, square)
            }
            square = multiply(square, square)
            length >>= 1
        }
        return power
    }

    private func multiply(_ left: UInt64, _ right: UInt64) -> UInt64 {
        var product: UInt64 = 0
        var shifted = right
        var bit = one
        while bit != 0 {
            if left & bit != 0 {
                product ^= shifted
            }
            shifted = shifted & 1 == 1 ? shifted >> 1 ^ polynomial : shifted >> 1
            bit >>= 1
        }
        return product
    }
}
