import Basics
import Crypto
import ObjectFilters

/// A folder of a device or a site: the objects whose relative paths begin with its path.
struct UploadedFolder: Sendable {
    enum Owner: Sendable, Hashable {
        case device(String)
        /// The site itself, not its devices.
        case site(Int64)
    }

    /// The number of bytes that identify a folder in page tokens.
    private static let digestBytes = 10

    let organizationID: Int64
    let owner: Owner
    let path: String

    init(organizationID: Int64, owner: Owner, path: String) {
        self.organizationID = organizationID
        self.owner = owner
        self.path = path
    }

    /// Makes the folder that contains an object, directly below another one.
    ///
    /// - Parameter parent: the path of the other folder, which contains the object; `nil` = the one that was uploaded.
    /// - Returns: `nil` if no folder is between the other one and the object.
    init?(of object: CatalogObject, below parent: String?) {
        guard let path = object.description.relativePath?.text.utf8 else { return nil }
        let start = parent.map { $0.utf8.count + 1 } ?? 0
        guard let end = path.dropFirst(start).firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let owner = object.owner
        self.init(
            organizationID: owner.organizationID, owner: owner.deviceID.map(Owner.device) ?? .site(owner.siteID),
            path: String(Substring(path[..<end])))
    }

    /// The filter that matches the objects of the folder, and no others of the organization.
    var filter: String {
        let owner =
            switch owner {
            case .device(let id): "device=\(FilterParser.value(id))"
            case .site(let id): "site=\(id) device=\"\""
            }
        return "\(owner) \(FilterParser.folder):\(FilterParser.value(path))"
    }

    /// The bytes of the folder in a page: its path, and the filter with the path.
    var size: Int { 2 * path.utf8.count }

    /// A text of fixed length that identifies the folder.
    var digest: String {
        let identity = "\(organizationID) \(filter)"
        return Hex.lower(Digest.sha256(Array(identity.utf8)).prefix(Self.digestBytes))
    }
}

/// Compared by bytes, as the index of paths does.
extension UploadedFolder: Hashable {
    static func == (left: Self, right: Self) -> Bool {
        left.organizationID == right.organizationID && left.owner == right.owner && left.path.isExactly(right.path)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(organizationID)
        hasher.combine(owner)
        var path = path
        path.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
