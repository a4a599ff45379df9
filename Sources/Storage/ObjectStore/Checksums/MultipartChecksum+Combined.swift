import Basics
import StoreProtocol

extension MultipartChecksum {
    /// Returns the object's checksum; `nil` if a part has none.
    func combined(_ parts: [(checksum: Checksum?, size: Int64)]) -> Checksum? {
        let checksums = parts.compactMap(\.checksum).filter { $0.algorithm == algorithm }
        guard checksums.count == parts.count else { return nil }
        switch kind {
        case .composite:
            var running = RunningChecksum(algorithm)
            for checksum in checksums { checksum.bytes.withUnsafeBytes { running.update($0) } }
            return Checksum(algorithm, running.finalize().bytes, partCount: parts.count)
        case .fullObject:
            guard let crc = algorithm.crc else { return nil }
            let whole = zip(checksums, parts).reduce(0 as UInt64) { whole, next in
                let (checksum, part) = next
                return crc.combine(whole, UInt64(bigEndianBytes: checksum.bytes), secondLength: part.size)
            }
            return Checksum(algorithm, Array(whole.bigEndianBytes.suffix(algorithm.byteCount)))
        }
    }
}
