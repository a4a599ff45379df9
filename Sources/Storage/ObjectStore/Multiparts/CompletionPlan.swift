import StoreProtocol

/// The parts that make an object, checked against the stored ones: the listed parts in ascending order. Their numbers may have
/// gaps, except where each number has its place in the upload's file.
struct CompletionPlan: Equatable {
    let parts: [PartRecord]
    /// The stored parts that are not part of the object. Where parts have places, all of them come after it.
    let unlisted: [PartRecord]
    let size: Int64

    /// - Parameters:
    ///   - list: `nil` for all stored parts.
    ///   - stored: the stored parts in order.
    ///   - partSize: the issued size of parts, which each part but the last has; 0 = any size and any numbers.
    init(_ list: CompletionList?, stored: [PartRecord], partSize: Int64) throws(ObjectStoreError) {
        let parts = try list.map { list throws(ObjectStoreError) in try Self.listed(list, in: stored) } ?? stored
        guard !parts.isEmpty else { throw .noParts }
        if partSize > 0 { try Self.requirePlaces(of: parts, size: partSize) }
        self.parts = parts
        let listed = Set(parts.map(\.number))
        unlisted = stored.filter { !listed.contains($0.number) }
        size = parts.reduce(0) { $0 + $1.size }
    }

    /// Requires that parts which were stored at the places of their numbers fill the beginning of the file without a gap.
    private static func requirePlaces(of parts: [PartRecord], size: Int64) throws(ObjectStoreError) {
        guard parts.enumerated().allSatisfy({ $0.offset + 1 == $0.element.number }) else { throw .partsNotContiguous }
        if let short = parts.dropLast().first(where: { $0.size != size }) {
            throw .partTooSmall(number: short.number, size: short.size, partSize: size)
        }
    }

    /// The versions of the rows that the object is made of.
    var versions: [PartVersion] { parts.map { PartVersion(number: $0.number, version: $0.order.version) } }

    func etag(_ form: ETag.Form) -> String { ETag.multipart(partMD5s: parts.map(\.md5), form) }

    func checksum(_ kind: MultipartChecksum?) -> Checksum? {
        kind?.combined(parts.map { ($0.checksum, $0.size) })
    }

    var crc64: UInt64 {
        parts.reduce(0) { CRC.crc64.combine($0, $1.crc64, secondLength: $1.size) }
    }

    /// The CRC-32 of the object; `nil` if a part has none.
    var crc32: UInt32? {
        var whole: UInt64 = 0
        for part in parts {
            guard let crc32 = part.crc32 else { return nil }
            whole = CRC.crc32.combine(whole, UInt64(crc32), secondLength: part.size)
        }
        return UInt32(whole)
    }

    private static func listed(_ list: CompletionList, in stored: [PartRecord]) throws(ObjectStoreError) -> [PartRecord]
    {
        let byNumber = Dictionary(stored.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        var parts: [PartRecord] = []
        var last = 0
        for listed in list.parts {
            guard listed.number > last else {
                throw .partsNotAscending
            }
            guard let part = byNumber[listed.number], part.matches(listed) else {
                throw .partMismatch(number: listed.number)
            }
            parts.append(part)
            last = listed.number
        }
        return parts
    }
}

extension PartRecord {
    /// Whether this is the part in the client's list. The two forms of a part's ETag differ in letter case only.
    fileprivate func matches(_ listed: CompletionList.Part) -> Bool {
        guard ETag.matches(ETag.whole(md5: md5, .oss), listed.etag) else { return false }
        guard let checksum, let expected = listed.checksums[checksum.algorithm] else { return true }
        return checksum.value == expected
    }
}

extension ExpectedObject {
    /// Compares the client's description of the object with the stored one.
    func verify(size: Int64, _ checksum: Checksum?) throws(ObjectStoreError) {
        if let expected = self.size, expected != size {
            throw .sizeMismatch(size: size, expected: expected)
        }
        guard let expected = self.checksum, expected != checksum else { return }
        throw .checksumMismatch(expected.algorithm)
    }
}
