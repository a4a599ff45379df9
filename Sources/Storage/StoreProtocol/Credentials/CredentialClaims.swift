package import Basics
import Crypto

/// The rights of temporary credentials, which their security token contains with a MAC.
///
/// They are not stored. The policy of the store (`AccessPolicy`) decides at every request whether they are still valid.
package struct CredentialClaims: Sendable, Equatable {
    package struct Operations: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Permits HEAD, GET and ListParts.
        package static let read = Operations(rawValue: 1)
        /// Permits PUT, multipart uploads and their abort.
        package static let write = Operations(rawValue: 2)
    }

    /// The party that requested the credentials. `epoch` is that of the key or user at the time of issue; disabling, holding and
    /// rotating increase it, so that a difference means that the credentials are revoked.
    package enum Subject: Sendable, Equatable {
        case apiKey(id: String, epoch: Int64)
        case user(id: Int64, epoch: Int64)
        /// A user or service account of SYSTEM, for any object; issued by InternalStorageService.
        case system(userID: Int64, epoch: Int64)
        /// The same for a program with a client certificate; such credentials end by expiry only.
        case certificate
        /// A key in the configuration; such claims are made for each request, and never issued.
        case staticKey(id: String)

        /// The subject's name in the log.
        package var name: String {
            switch self {
            case .apiKey(let id, _): "api_key:\(id)"
            case .user(let id, _), .system(let id, _): "user:\(id)"
            case .certificate: "certificate"
            case .staticKey(let id): "static_key:\(id)"
            }
        }
    }

    /// The party with its organization, to which the work for it is charged.
    package struct Holder: Sendable, Equatable {
        package let subject: Subject
        /// `nil` for programs and static keys, and in credentials of earlier versions.
        package let organizationID: Int64?

        package init(_ subject: Subject, of organizationID: Int64?) {
            self.subject = subject
            self.organizationID = organizationID
        }
    }

    /// The gateway's upload id; the claims are for its object.
    package let uploadID: String
    package let bucket: String
    package let key: String
    package let operations: Operations
    /// The expiry, in whole seconds.
    package let expiresAt: UnixTime
    package let holder: Holder

    package var subject: Subject { holder.subject }

    /// The owner under which work for the credentials is queued.
    package var workOwner: WorkOwner {
        switch subject {
        case .apiKey(let id, _): .apiKey(id, of: holder.organizationID)
        case .user(let id, _), .system(let id, _): .user(id, of: holder.organizationID)
        case .certificate: .program(subject.name)
        case .staticKey(let id): .staticKey(id)
        }
    }

    /// The resource of the claims, in the log.
    package var target: String { "uploads/\(uploadID)" }

    /// `bucket/key` of the object.
    package var location: String { "\(bucket)/\(key)" }

    package init(
        uploadID: String, bucket: String, key: String, operations: Operations, expiresAt: UnixTime, holder: Holder
    ) {
        self.uploadID = uploadID
        self.bucket = bucket
        self.key = key
        self.operations = operations
        self.expiresAt = UnixTime(seconds: expiresAt.seconds)
        self.holder = holder
    }
}

/// The encoding of claims: fixed-width integers in big-endian order, strings and byte strings after a 16-bit length.
extension CredentialClaims {
    private static let version: UInt8 = 2
    /// Without the organization. Credentials of this version may be valid for as long as a presigned URL after an update.
    private static let versionWithoutOrganization: UInt8 = 1

    /// - Parameters:
    ///   - keyNumber: the number of the MAC key that will protect the bytes.
    ///   - nonce: makes two sets of credentials for the same claims differ in secret and token.
    func encoded(keyNumber: UInt32, nonce: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [Self.version, operations.rawValue]
        bytes.append(bigEndian: keyNumber)
        bytes.append(bigEndian: expiresAt.seconds)
        bytes.append(bigEndian: holder.organizationID ?? 0)
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
        guard let version = reader.byte(), isKnown(version), reader.byte() != nil else { return nil }
        return reader.integer()
    }

    private static func isKnown(_ version: UInt8) -> Bool {
        version == Self.version || version == versionWithoutOrganization
    }

    /// Returns `nil` for bytes that ``encoded(keyNumber:nonce:)`` of this version or an earlier one does not produce.
    init?(decoding bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let version = reader.byte(), Self.isKnown(version), let operations = reader.byte(),
            let _: UInt32 = reader.integer(), let expiry: Int64 = reader.integer(),
            let organization: Int64 = version == Self.versionWithoutOrganization ? 0 : reader.integer(),
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
            expiresAt: UnixTime(seconds: expiry), holder: Holder(subject, of: organization == 0 ? nil : organization))
    }
}

extension [UInt8] {
    fileprivate mutating func append(string: [UInt8]) {
        append(bigEndian: UInt16(clamping: string.count))
        append(contentsOf: string.prefix(Int(UInt16.max)))
    }
}

private struct ByteReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func byte() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func integer<T: FixedWidthInteger>() -> T? {
        let width = T.bitWidth / 8
        guard bytes.count - position >= width else { return nil }
        var value: UInt64 = 0
        for _ in 0..<width {
            value = value << 8 | UInt64(bytes[position])
            position += 1
        }
        return T(truncatingIfNeeded: value)
    }

    mutating func text() -> String? {
        guard let count: UInt16 = integer(), bytes.count - position >= Int(count) else { return nil }
        defer { position += Int(count) }
        return String(decoding: bytes[position..<position + Int(count)], as: UTF8.self)
    }
}
