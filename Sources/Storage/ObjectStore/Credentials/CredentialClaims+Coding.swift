import Basics

/// The encoding of claims: fixed-width integers in big-endian order, strings and byte strings after a 16-bit length.
extension CredentialClaims {
    private static let version: UInt8 = 1

    /// - Parameters:
    ///   - keyNumber: the number of the MAC key that will protect the bytes.
    ///   - nonce: makes two sets of credentials for the same claims differ in secret and token.
    func encoded(keyNumber: UInt32, nonce: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [Self.version, operations.rawValue]
        bytes.append(bigEndian: keyNumber)
        bytes.append(bigEndian: expiresAt.seconds)
        switch subject {
        case .apiKey(let id, let epoch):
            bytes.append(0)
            bytes.append(bigEndian: epoch)
            bytes.append(string: Array(id.utf8))
        case .user(let id, let epoch):
            bytes.append(1)
            bytes.append(bigEndian: epoch)
            bytes.append(bigEndian: id)
        case .system(let id, let epoch):
            bytes.append(2)
            bytes.append(bigEndian: epoch)
            bytes.append(bigEndian: id)
        case .certificate:
            bytes.append(3)
            bytes.append(bigEndian: Int64(0))
        case .staticKey:
            // Never decoded: a static key is proven by its own secret only.
            bytes.append(.max)
        }
        for text in [uploadID, bucket, key] {
            bytes.append(string: Array(text.utf8))
        }
        bytes.append(string: nonce)
        return bytes
    }

    /// Returns the number of the key in `bytes`, which are not verified yet.
    static func keyNumber(of bytes: [UInt8]) -> UInt32? {
        var reader = ByteReader(bytes)
        guard reader.byte() == version, reader.byte() != nil else { return nil }
        return reader.integer()
    }

    /// Returns `nil` for bytes that ``encoded(keyNumber:nonce:)`` does not produce.
    init?(decoding bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard reader.byte() == Self.version, let operations = reader.byte(),
            let _: UInt32 = reader.integer(), let expiry: Int64 = reader.integer(),
            let kind = reader.byte(), let epoch: Int64 = reader.integer()
        else { return nil }
        let subject: Subject
        switch kind {
        case 0:
            guard let id = reader.text() else { return nil }
            subject = .apiKey(id: id, epoch: epoch)
        case 1:
            guard let id: Int64 = reader.integer() else { return nil }
            subject = .user(id: id, epoch: epoch)
        case 2:
            guard let id: Int64 = reader.integer() else { return nil }
            subject = .system(userID: id, epoch: epoch)
        case 3:
            subject = .certificate
        default:
            return nil
        }
        guard let uploadID = reader.text(), let bucket = reader.text(), let key = reader.text(), reader.text() != nil
        else { return nil }
        self.init(
            uploadID: uploadID, bucket: bucket, key: key, operations: Operations(rawValue: operations),
            expiresAt: UnixTime(seconds: expiry), subject: subject)
    }
}

extension [UInt8] {
    fileprivate mutating func append(string: [UInt8]) {
        append(bigEndian: UInt16(clamping: string.count))
        append(contentsOf: string.prefix(Int(UInt16.max)))
    }
}

private struct ByteReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    mutating func byte() -> UInt8? {
        rest.popFirst()
    }

    mutating func integer<T: FixedWidthInteger>() -> T? {
        let width = T.bitWidth / 8
        guard rest.count >= width else { return nil }
        defer { rest.removeFirst(width) }
        return rest.prefix(width).reduce(0) { $0 << 8 | T(truncatingIfNeeded: $1) }
    }

    mutating func text() -> String? {
        guard let count: UInt16 = integer(), rest.count >= Int(count) else { return nil }
        defer { rest.removeFirst(Int(count)) }
        return String(decoding: rest.prefix(Int(count)), as: UTF8.self)
    }
}
