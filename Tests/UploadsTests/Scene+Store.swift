import Accounts
import Basics
import Crypto
import Database
import Proto
import StoreProtocol

@testable import ObjectStore
@testable import Uploads

/// Inserts rows like the store's, without the bytes.
extension Scene {
    @discardableResult
    func initiate(_ uploadID: String, parts: Int = 0, isLost: Bool = false) throws -> String {
        let id = identifiers.uuid()
        let location = try record(uploadID).location
        let now = clock.now()
        try database.writeBlocking { connection in
            let records = StoreRecords(connection)
            try records.insert(
                MultipartRecord(
                    id: id, uploadID: uploadID, bucket: location.bucket, key: location.key, fileID: Self.fileID(id),
                    partSize: location.partSize, contentType: nil, createdAt: now, isCompleted: false, isLost: false))
            for number in 0..<parts {
                try records.put(
                    PartRecord(
                        number: number + 1, size: location.partSize, md5: Array(repeating: 1, count: 16), crc64: 0,
                        fileID: nil, storedAt: now),
                    of: id)
            }
            if isLost { try records.markLost(Self.fileID(id), true) }
        }
        return id
    }

    /// Inserts an object from a single PUT (`parts` 0) or completed from parts.
    @discardableResult
    func store(_ uploadID: String, size: Int64 = 1000, parts: Int = 0) throws -> CompleteUploadRequest {
        let location = try record(uploadID).location
        let multipart = parts == 0 ? nil : try initiate(uploadID, parts: parts)
        let etag = parts == 0 ? "\"0123456789ABCDEF0123456789ABCDEF\"" : "\"ABCDEF0123456789ABCDEF0123456789-\(parts)\""
        let object = StoredObject(
            StoredObject.Place(bucket: location.bucket, key: location.key, uploadID: uploadID),
            StoredObject.Content(
                size: size, etag: etag, crc64: 1, checksum: parts == 0 ? nil : Checksum("CRC32:AAAAAA==-\(parts)"),
                origin: multipart.map { StoredObject.Multipart(id: $0, partCount: parts) }),
            fileID: Self.fileID(uploadID), createdAt: clock.now())
        try database.writeBlocking { connection in
            if let multipart { try StoreRecords(connection).markCompleted(multipart) }
            _ = try StoreRecords(connection).replaceObject(with: object)
        }
        return CompleteUploadRequest(
            uploadID: uploadID, fileSize: size, completedPartCount: Int32(parts), ossObjectEtag: etag,
            partSizeBytes: location.partSize)
    }

    /// Returns 32 hexadecimal digits, like the store's ids.
    static func fileID(_ uuid: String) -> String { uuid.replacing("-", with: "") }

    /// Makes a data-plane request, as the store reports it.
    @discardableResult
    func touch(_ uploadID: String, by caller: Caller) throws -> AccessDecision {
        let decision = try decide(uploadID, by: caller)
        switch decision {
        case .allowed(_, true), .readOnly(true):
            try database.writeBlocking { [policy] in try policy.recordActivity(uploadID: uploadID, in: $0) }
        case .allowed, .readOnly, .denied, .noSuchUpload: break
        }
        return decision
    }

    func decide(_ uploadID: String, by caller: Caller) throws -> AccessDecision {
        let claims = claims(uploadID, key: "key", of: caller)
        return try database.readBlocking { try policy.decide(claims, in: $0) }
    }

    /// Returns the claims of credentials of an upload.
    ///
    /// - Parameter key: the object's key.
    func claims(_ uploadID: String, key: String, of caller: Caller) -> CredentialClaims {
        let reference: APIKeyReference =
            switch caller.principal {
            case .device(let device): device.key
            case .site(let site): site.key
            case .user, .certificate: APIKeyReference(id: "", epoch: 0)
            }
        return CredentialClaims(
            uploadID: uploadID, bucket: configuration.bucket, key: key, operations: [.read, .write],
            expiresAt: clock.now().adding(seconds: 60),
            holder: .init(.apiKey(id: reference.id, epoch: reference.epoch), of: 1))
    }
}
