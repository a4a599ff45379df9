/// A part of a file.
package struct PartRange: Sendable, Hashable {
    /// The largest number of parts in a multipart upload.
    package static let maximumCount: Int64 = 10_000

    /// The number, from 1.
    package let number: Int
    package let bytes: Range<Int64>

    package init(number: Int, bytes: Range<Int64>) {
        self.number = number
        self.bytes = bytes
    }

    /// Returns the parts of a file of `size` bytes, each but the last with `partSize`, which is above 0.
    package static func all(size: Int64, partSize: Int64) -> [PartRange] {
        stride(from: 0, to: size, by: Int64.Stride(partSize)).enumerated().map { index, start in
            PartRange(number: index + 1, bytes: start..<start + min(partSize, size - start))
        }
    }
}
