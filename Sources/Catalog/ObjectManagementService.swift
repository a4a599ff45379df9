import Accounts
import Basics
import Database
import GatewayAPI
import Proto
import RPC
import TimeZones

/// The gRPC service ObjectManagementService, which converts messages and calls the rules.
struct ObjectManagementService: ObjectManagementServiceHandler {
    /// The limit of the days in the trash: ten years.
    private static let mostTrashDays: Int32 = 3650

    let removal: ObjectRemoval
    let bulkOperations: BulkOperations
    let tagEditing: TagEditing
    let statistics: Statistics
    let storageUse: StorageUse
    let database: Database
    let tokens: PageTokens
    let facets: ObjectFacets
    let savedSearches: SavedSearches
    let zones: TimeZoneFolder

    func deleteObject(_ request: DeleteObjectRequest, context: CallContext) async throws -> DeleteObjectResponse {
        try Self.check(fileID: request.fileID)
        try FieldRules.note(request.reason, field: "reason", limit: 512)
        let purgeAt = try await removal.delete(request.fileID, reason: request.reason, by: try Caller(context))
        return DeleteObjectResponse(purgeAt: purgeAt.map { Timestamp($0) })
    }

    func restoreObject(_ request: RestoreObjectRequest, context: CallContext) async throws -> RestoreObjectResponse {
        try Self.check(fileID: request.fileID)
        let restored = try await removal.restore(request.fileID, by: try Caller(context))
        return RestoreObjectResponse(object: DataObject(restored))
    }

    func purgeObject(_ request: PurgeObjectRequest, context: CallContext) async throws -> PurgeObjectResponse {
        try Self.check(fileID: request.fileID)
        try FieldRules.note(request.reason, field: "reason", limit: 512)
        try await removal.purge(request.fileID, reason: request.reason, by: try Caller(context))
        return PurgeObjectResponse()
    }

    func setTrashSettings(
        _ request: SetTrashSettingsRequest, context: CallContext
    ) async throws -> SetTrashSettingsResponse {
        // Without a number, an empty request would delete all objects in the trash.
        guard case .days(let days)? = request.timeInTrash, (0...Self.mostTrashDays).contains(days) else {
            throw RPCError.invalidArgument("days must be set, to 0 (delete objects at once) to \(Self.mostTrashDays)")
        }
        let affected = try await removal.setTrashGrace(
            days: days, isDryRun: request.dryRun, by: try Caller(context))
        return SetTrashSettingsResponse(
            days: days, affectedObjects: affected.objects, affectedBytes: affected.bytes)
    }

    func getTrashSettings(
        _ request: GetTrashSettingsRequest, context: CallContext
    ) async throws -> GetTrashSettingsResponse {
        let (grace, content) = try await removal.trash(for: try Caller(context))
        return GetTrashSettingsResponse(
            days: grace.days, trashedObjects: content.objects, trashedBytes: content.bytes)
    }

    func updateObject(_ request: UpdateObjectRequest, context: CallContext) async throws -> UpdateObjectResponse {
        try Self.check(fileID: request.fileID)
        let change = TagChange(
            added: request.tags, replacesAll: request.replaceTags, removed: request.removeTags)
        let updated = try await tagEditing.update(request.fileID, change, by: try Caller(context))
        return UpdateObjectResponse(object: DataObject(updated))
    }

    private static func check(fileID: String) throws(RPCError) {
        guard (1...FileIDs.longest).contains(fileID.utf8.count) else {
            throw .invalidArgument("file_id must be 1 to \(FileIDs.longest) bytes")
        }
    }

    func deleteObjects(_ request: DeleteObjectsRequest, context: CallContext) async throws -> DeleteObjectsResponse {
        let (matches, operation) = try await bulkOperations.begin(
            BulkOperations.Request(
                kind: .delete, filter: request.filter, timeZone: request.timeZone, reason: request.reason,
                isDryRun: request.dryRun),
            by: try Caller(context))
        return DeleteObjectsResponse(
            matchingObjects: matches.amount.objects, matchingBytes: matches.amount.bytes,
            isLowerBound: matches.isLowerBound, operation: operation.map { ObjectOperation($0) })
    }

    func restoreObjects(_ request: RestoreObjectsRequest, context: CallContext) async throws -> RestoreObjectsResponse {
        let (matches, operation) = try await bulkOperations.begin(
            BulkOperations.Request(
                kind: .restore, filter: request.filter, timeZone: request.timeZone, isDryRun: request.dryRun),
            by: try Caller(context))
        return RestoreObjectsResponse(
            matchingObjects: matches.amount.objects, matchingBytes: matches.amount.bytes,
            isLowerBound: matches.isLowerBound, operation: operation.map { ObjectOperation($0) })
    }

    func purgeObjects(_ request: PurgeObjectsRequest, context: CallContext) async throws -> PurgeObjectsResponse {
        let (matches, operation) = try await bulkOperations.begin(
            BulkOperations.Request(
                kind: .purge, filter: request.filter, timeZone: request.timeZone, reason: request.reason,
                isDryRun: request.dryRun),
            by: try Caller(context))
        return PurgeObjectsResponse(
            matchingObjects: matches.amount.objects, matchingBytes: matches.amount.bytes,
            isLowerBound: matches.isLowerBound, operation: operation.map { ObjectOperation($0) })
    }

    func undoObjectOperation(
        _ request: UndoObjectOperationRequest, context: CallContext
    ) async throws -> UndoObjectOperationResponse {
        let (matches, operation) = try await bulkOperations.begin(
            BulkOperations.Request(kind: .undo, undoneID: request.operationID, isDryRun: request.dryRun),
            by: try Caller(context))
        return UndoObjectOperationResponse(
            matchingObjects: matches.amount.objects, matchingBytes: matches.amount.bytes,
            operation: operation.map { ObjectOperation($0) })
    }

    func getObjectOperation(
        _ request: GetObjectOperationRequest, context: CallContext
    ) async throws -> GetObjectOperationResponse {
        let operation = try await bulkOperations.operation(request.operationID, for: try Caller(context))
        return GetObjectOperationResponse(operation: ObjectOperation(operation))
    }

    func listObjectOperations(
        _ request: ListObjectOperationsRequest, context: CallContext
    ) async throws -> ListObjectOperationsResponse {
        let caller = try Caller(context)
        let page = try Page(
            size: request.pageSize, token: request.pageToken, tokens: tokens,
            scope: "object operations of \(caller.organization.id) for \(caller.user.userID)")
        let found = try await bulkOperations.operations(page, for: caller)
        return ListObjectOperationsResponse(
            operations: found.rows.map { ObjectOperation($0) },
            nextPageToken: page.next(after: found) { $0.id })
    }

    func cancelObjectOperation(
        _ request: CancelObjectOperationRequest, context: CallContext
    ) async throws -> CancelObjectOperationResponse {
        let operation = try await bulkOperations.cancel(request.operationID, by: try Caller(context))
        return CancelObjectOperationResponse(operation: ObjectOperation(operation))
    }

    func setRetention(_ request: SetRetentionRequest, context: CallContext) async throws -> SetRetentionResponse {
        let rules = try RetentionRules(
            days: request.days, rules: request.rules.map { ($0.filter, $0.days) }, replacesRules: request.replaceRules)
        let (set, affected, examples) = try await removal.setRetention(
            rules, keepsRules: !request.replaceRules, isDryRun: request.dryRun, by: try Caller(context))
        return SetRetentionResponse(
            days: set.days, affectedObjects: affected.amount.objects, affectedBytes: affected.amount.bytes,
            rules: set.messages, isLowerBound: affected.isLowerBound, examples: examples.map(RetentionExample.init))
    }

    func getRetention(_ request: GetRetentionRequest, context: CallContext) async throws -> GetRetentionResponse {
        let rules = try await removal.retention(for: try Caller(context))
        return GetRetentionResponse(days: rules.days, rules: rules.messages)
    }

    func listBadObjects(
        _ request: ListBadObjectsRequest, context: CallContext
    ) async throws -> ListBadObjectsResponse {
        let user = try context.user
        let page = try Page(
            size: request.pageSize, token: request.pageToken, tokens: tokens,
            scope: "bad objects of \(user.objectScope.map(String.init) ?? "all") for \(user.userID)")
        let (scope, cursor, limit) = (user.objectScope, Int64(page.cursor), page.limit)
        // In the background, because an organization may have few of many.
        let (objects, end) = try await database.readInBackground { connection in
            let records = ObjectRecords(connection)
            let found = try records.bad(scope: scope, after: cursor, limit: limit)
            let listed = try records.listed(found.rows, limit: limit).rows
            let isLast = listed.count == found.rows.count && !found.hasMore
            return (listed, isLast ? nil : found.rows[listed.count - 1].position)
        }
        return ListBadObjectsResponse(
            objects: objects.map(DataObject.init), nextPageToken: end.map { page.token(after: String($0)) } ?? "")
    }

    func getObject(_ request: GetObjectRequest, context: CallContext) async throws -> ObjectDetails {
        let user = try context.user
        let found = try await database.read {
            try ObjectRecords($0).details(id: request.fileID, scope: user.objectScope)
        }
        guard let found else { throw RPCError.notFound("file \(request.fileID) does not exist") }
        return ObjectDetails(found)
    }

    func getStatistics(_ request: GetStatisticsRequest, context: CallContext) async throws -> GetStatisticsResponse {
        guard (0...Statistics.maximumDays).contains(request.days) else {
            throw RPCError.invalidArgument("days must be 0 to \(Statistics.maximumDays)")
        }
        let days = try await statistics.days(
            request.days == 0 ? Statistics.defaultDays : request.days, for: try context.user)
        let stored = days.last?.stored ?? Amount()
        return GetStatisticsResponse(
            storedObjects: stored.objects, storedBytes: stored.bytes, days: days.map(DailyStatistics.init))
    }

    func getStorageUse(_ request: GetStorageUseRequest, context: CallContext) async throws -> GetStorageUseResponse {
        let query = try StorageUseQuery(
            groupBy: request.groupBy, limit: request.valueLimit, timeZone: request.timeZone, in: zones)
        let use = try await storageUse.use(query, scope: try context.user.objectScope)
        return GetStorageUseResponse(
            objects: use.listed.objects, bytes: use.listed.bytes, trashedObjects: use.trashed.objects,
            trashedBytes: use.trashed.bytes, groups: use.groups.map(StorageUseGroup.init), tagKeys: use.tagKeys,
            isComplete: use.isComplete)
    }

    func getObjectFacets(
        _ request: GetObjectFacetsRequest, context: CallContext
    ) async throws -> GetObjectFacetsResponse {
        let query = try FacetQuery(
            filter: try RequestedFilter(request.filter, timeZone: request.timeZone, in: zones),
            facet: request.facet, part: request.valueContains, limit: request.valueLimit)
        let found = try await facets.facets(query, scope: try context.user.objectScope)
        return GetObjectFacetsResponse(
            count: found.count, isExact: found.isExact, facets: found.facets.map(ObjectFacet.init))
    }

    func listSavedSearches(
        _ request: ListSavedSearchesRequest, context: CallContext
    ) async throws -> ListSavedSearchesResponse {
        let found = try await savedSearches.all(for: try Caller(context))
        return ListSavedSearchesResponse(savedSearches: found.map { SavedSearch($0) })
    }

    func saveSearch(_ request: SaveSearchRequest, context: CallContext) async throws -> SavedSearch {
        let search = NamedSearch(
            name: request.name, filter: request.filter, order: request.orderBy, columns: request.columns)
        return SavedSearch(try await savedSearches.save(search, by: try Caller(context)))
    }

    func deleteSavedSearch(
        _ request: DeleteSavedSearchRequest, context: CallContext
    ) async throws -> DeleteSavedSearchResponse {
        try await savedSearches.delete(request.searchID, by: try Caller(context))
        return DeleteSavedSearchResponse()
    }
}

extension RetentionRules {
    var messages: [RetentionRule] { rules.map { RetentionRule(filter: $0.text, days: $0.days) } }
}

extension RetentionExample {
    init(_ example: ExpiredObject) {
        let object = example.object
        self.init(
            fileID: object.fileID, name: example.name, deviceID: object.owner.deviceID ?? "",
            siteID: object.owner.siteID, sizeBytes: object.content.size, keptSince: Timestamp(example.keptSince))
    }
}

extension StorageUseGroup {
    init(_ values: StorageUse.Values) {
        self.init(
            name: values.group.name,
            values: values.values.map {
                StorageUseValue(
                    value: $0.value, displayName: $0.displayName, objects: $0.amount.objects, bytes: $0.amount.bytes)
            },
            totalValues: Int64(values.total), isLowerBound: values.isLowerBound)
    }
}

extension ObjectFacet {
    init(_ facet: ObjectFacets.Facet) {
        self.init(
            name: facet.name, values: facet.values.map { ObjectFacetValue(value: $0.value, objects: $0.objects) },
            totalValues: facet.total ?? Int64(facet.values.count), isLowerBound: facet.isLowerBound)
    }
}

extension ObjectDetails {
    init(_ details: ObjectDetailsRecord) {
        let object = details.object
        self.init(
            object: DataObject(ListedObject(object: object, tags: details.tags, topics: details.topics)),
            tags: details.tags,
            deviceID: object.owner.deviceID ?? "",
            siteID: object.owner.siteID,
            organization: details.organization, uploadID: object.uploadID, bucket: object.content.bucket,
            objectKey: object.content.key, trashedBy: details.trashing?.actor ?? "",
            trashReason: details.trashing?.reason ?? "", purgeAt: details.trashing.map { Timestamp($0.purgeAt) })
    }
}

extension DailyStatistics {
    init(_ day: Statistics.Day) {
        let record = day.record
        self.init(
            date: CivilTime(UnixTime(seconds: record.day * 86_400)).date(), storedObjects: day.stored.objects,
            storedBytes: day.stored.bytes,
            arrivedObjects: record.arrived.objects, arrivedBytes: record.arrived.bytes,
            deletedObjects: record.deleted.objects, deletedBytes: record.deleted.bytes,
            requestedObjects: record.requested.objects, requestedBytes: record.requested.bytes)
    }
}
