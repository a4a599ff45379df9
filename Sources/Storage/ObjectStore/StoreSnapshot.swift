/// The store's committed state of one upload id.
package struct StoreSnapshot: Sendable, Equatable {
    /// A multipart upload that is neither completed nor aborted.
    package struct Multipart: Sendable, Equatable {
        /// The UploadId that the store returned.
        package let id: String
        package let partCount: Int
    }

    /// The open multipart uploads in the order of their beginning.
    package let multiparts: [Multipart]
    package let object: StoredObject?
    /// Whether a data file with a row is missing, so that the attempt cannot be completed.
    package let isLost: Bool
}

/// The store's committed progress of one upload id.
package struct StoreProgress: Sendable, Equatable {
    /// Whether a multipart upload is neither completed nor aborted.
    package let hasMultipart: Bool
    /// Whether one of those has a part.
    package let hasPart: Bool
    package let object: StoredObject?
    /// Whether a data file with a row is missing, so that the attempt cannot be completed.
    package let isLost: Bool
}
