import Basics
import Glibc
import Synchronization

@testable import DirectoryEngine
@testable import ObjectStore

/// A disk that cannot read some files any more.
final class BadSectors: Sendable {
    private struct Sector {
        let offset: Int
        let error: Int32
    }

    /// The bad sectors by file name.
    private let sectors = Lock<[String: Sector]>([:])

    /// Makes reads of the file fail that include the byte at `offset`.
    func add(_ fileID: String, offset: Int = 0, error: Int32) {
        sectors.withLock { $0[fileID] = Sector(offset: offset, error: error) }
    }

    var calls: FileCalls {
        var calls = FileCalls()
        calls.read = { [self] descriptor, buffer, count, offset in
            let sector = sectors.withLock { $0[Self.name(of: descriptor)] }
            guard let sector, (offset..<offset + count).contains(sector.offset) else {
                return pread(descriptor, buffer, count, offset)
            }
            errno = sector.error
            return -1
        }
        return calls
    }

    private static func name(of descriptor: Int32) -> String {
        let target = [CChar](unsafeUninitializedCapacity: 4096) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            count = max(0, readlink("/proc/self/fd/\(descriptor)", start, buffer.count))
        }
        return String(decoding: target.suffix(32).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
