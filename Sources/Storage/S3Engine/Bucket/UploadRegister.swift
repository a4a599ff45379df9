package import Database

/// The database's records of uploads and objects apart from the store's own tables: they decide about keys that no row refers to.
package struct UploadRegister: Sendable {
    package enum UploadState: Sendable {
        case inProgress
        /// It got no object, and cannot get one any more.
        case ended
        case completed
    }

    /// Returns the state of an upload; `nil` without a record.
    let state: @Sendable (_ uploadID: String, _ connection: ReadConnection) throws -> UploadState?
    /// Whether the object with a file is listed.
    let isListed: @Sendable (_ fileID: String, _ connection: ReadConnection) throws -> Bool
    /// Whether the deletion of the object with a file is recorded.
    let isDeleted: @Sendable (_ fileID: String, _ connection: ReadConnection) throws -> Bool

    package init(
        state: @escaping @Sendable (_ uploadID: String, _ connection: ReadConnection) throws -> UploadState?,
        isListed: @escaping @Sendable (_ fileID: String, _ connection: ReadConnection) throws -> Bool,
        isDeleted: @escaping @Sendable (_ fileID: String, _ connection: ReadConnection) throws -> Bool
    ) {
        self.state = state
        self.isListed = isListed
        self.isDeleted = isDeleted
    }

    /// The register of a store alone: it has no uploads, and all of its objects count as listed.
    package static let none = UploadRegister { _, _ in
        nil
    } isListed: { _, _ in
        true
    } isDeleted: { _, _ in
        false
    }
}
