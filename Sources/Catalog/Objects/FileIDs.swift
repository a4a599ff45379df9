import GatewayAPI
package import RPC

/// The field `file_ids` of a request: objects by the ids that users know.
package enum FileIDs {
    /// The limit of an id's length, above that of any issued id.
    package static let longest = 128

    /// - Throws: INVALID_ARGUMENT for no or more than `limit` ids, and for one that is empty, too long or repeated.
    package static func check(_ fileIDs: [String], limit: Int) throws(RPCError) {
        guard (1...limit).contains(fileIDs.count) else {
            throw .invalidArgument("file_ids must have 1 to \(limit) entries, not \(fileIDs.count)")
        }
        var seen: Set<String> = []
        for (index, id) in fileIDs.enumerated() {
            guard (1...longest).contains(id.utf8.count) else {
                throw .invalidArgument("file_ids[\(index)] must be 1 to \(longest) bytes")
            }
            guard seen.insert(id).inserted else { throw .invalidArgument("file_ids[\(index)] repeats \(id)") }
        }
    }
}

extension ObjectRecords {
    /// Returns verified objects, in the order of the ids.
    ///
    /// - Parameters:
    ///   - ids: file ids, ids of uploads or of logical uploads.
    ///   - scope: the objects' organization; `nil` = any.
    /// - Throws: NOT_FOUND if one does not exist or is in the trash, INVALID_ARGUMENT if two ids denote the same object; the
    ///   message contains the id.
    package func objects(ids: [String], scope: Int64?) throws -> [CatalogObject] {
        var seen: Set<String> = []
        return try ids.enumerated().map { index, id in
            guard let object = try anyObject(id: id, scope: scope), !object.isBad else {
                throw RPCError.notFound("file \(id) does not exist")
            }
            guard object.trashedAt == nil else {
                throw RPCError.notFound("file \(id) is in the trash: an administrator can restore it")
            }
            guard seen.insert(object.fileID).inserted else {
                throw RPCError.invalidArgument("file_ids[\(index)] repeats the file \(object.fileID)")
            }
            return object
        }
    }
}
