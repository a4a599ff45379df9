package import Basics

/// A verified object in the catalog.
package struct CatalogObject: Sendable, Hashable {
    /// The stored content and its location.
    package struct Content: Sendable, Hashable {
        package let bucket: String
        package let key: String
        /// The size in bytes.
        package let size: Int64
        /// The entity tag exactly as in responses to HEAD, with quotes.
        package let etag: String

        package init(bucket: String, key: String, size: Int64, etag: String) {
            self.bucket = bucket
            self.key = key
            self.size = size
            self.etag = etag
        }
    }

    package struct Times: Sendable, Hashable {
        package let createdAt: UnixTime
        package let uploadedAt: UnixTime
        package let verifiedAt: UnixTime

        package init(createdAt: UnixTime, uploadedAt: UnixTime, verifiedAt: UnixTime) {
            self.createdAt = createdAt
            self.uploadedAt = uploadedAt
            self.verifiedAt = verifiedAt
        }
    }

    /// The name, type, checksum and time range of the content.
    package struct Description: Sendable, Hashable {
        /// The name; `nil` for an object of a version that kept no names.
        package let name: FileName?
        /// The path below the folder that was uploaded; `nil` if the client sent none.
        package let relativePath: RelativePath?
        /// The media type.
        package let contentType: String
        /// CRC-64/XZ of the bytes; `nil` if it is unknown.
        package let crc64: UInt64?
        /// The time range that the content covers, if the client sent it.
        package let recordedFrom: UnixTime?
        package let recordedTo: UnixTime?

        /// The path by which its owner knows the file: the relative path, else the name.
        var path: String? { relativePath?.text ?? name?.text }

        /// The description of an object about which nothing is known.
        package static let none = Description(name: nil, contentType: ContentType.unknown, crc64: nil)

        package init(
            name: FileName?, relativePath: RelativePath? = nil, contentType: String, crc64: UInt64?,
            recordedFrom: UnixTime? = nil,
            recordedTo: UnixTime? = nil
        ) {
            self.name = name
            self.relativePath = relativePath
            self.contentType = contentType
            self.crc64 = crc64
            self.recordedFrom = recordedFrom
            self.recordedTo = recordedTo
        }
    }

    /// The object's id: 36 characters, made by `Identifiers`.
    package let id: String
    /// The id that clients use; also the name of its data file in the store.
    package let fileID: String
    package let uploadID: String
    /// The owner of its upload.
    package let owner: ObjectOwner
    package let content: Content
    package let times: Times
    package var description = Description.none
    /// The time when it was moved to the trash; `nil` = it is not there.
    package internal(set) var trashedAt: UnixTime?
    /// Whether the object is corrupted: its bytes no longer match its checksum.
    package internal(set) var isBad = false

    /// Whether its name is one of an MCAP file, whose summary is read in the background.
    package var isRecording: Bool {
        description.name?.text.utf8.suffix(5).elementsEqual(".mcap".utf8) { $0 | 0x20 == $1 | 0x20 } ?? false
    }

    package init(id: String, fileID: String, uploadID: String, owner: ObjectOwner, content: Content, times: Times) {
        self.id = id
        self.fileID = fileID
        self.uploadID = uploadID
        self.owner = owner
        self.content = content
        self.times = times
    }

    /// Returns the name for lists and for the downloaded file.
    package func name(tags: [String: String]) -> FileName {
        description.name ?? ObjectNaming.name(hint: nil, tags: tags, owner: owner, createdAt: times.createdAt)
    }
}

/// The owner of an upload and its object: the device, or the site, independent of the key that it used. It does not change when the
/// device moves.
package struct ObjectOwner: Sendable, Hashable {
    package let organizationID: Int64
    package let siteID: Int64
    package let suiteID: Int64?
    /// The device; `nil` = the site itself.
    package let deviceID: String?

    package init(organizationID: Int64, siteID: Int64, suiteID: Int64?, deviceID: String?) {
        self.organizationID = organizationID
        self.siteID = siteID
        self.suiteID = suiteID
        self.deviceID = deviceID
    }
}

/// The naming of objects: the client's hint at the beginning of the upload, else the tag that deployed SDKs send with
/// CompleteUpload, else a name made from the owner and the time.
package enum ObjectNaming {
    /// - Parameters:
    ///   - hint: `client_hints["file_name"]`.
    ///   - createdAt: the beginning of the upload.
    package static func name(
        hint: FileName?, tags: [String: String], owner: ObjectOwner, createdAt: UnixTime
    ) -> FileName {
        hint ?? tags[FileName.tagKey].flatMap { FileName($0) } ?? fallback(owner, createdAt)
    }

    private static func fallback(_ owner: ObjectOwner, _ createdAt: UnixTime) -> FileName {
        let source = owner.deviceID ?? "site-\(owner.siteID)"
        return FileName(verbatim: "\(source)_\(CivilTime(createdAt).textForFileName)")
    }
}

/// An object with its tags and further information.
struct ObjectDetailsRecord: Sendable {
    let object: CatalogObject
    let tags: [String: String]
    /// The first topics of a recording.
    let topics: [String]
    /// The organization's name.
    let organization: String
    /// The object's entry in the trash; `nil` = it is not there.
    let trashing: Trashing?
}
