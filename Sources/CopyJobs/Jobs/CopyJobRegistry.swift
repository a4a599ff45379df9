import Accounts
import Basics
import Catalog
import Crypto
import Database
import GatewayAPI
import RPC

/// The rules of CreateCopyJob, GetCopyJob, ListCopyJobItems and CancelCopyJob. A job is visible to the users who see its
/// organization's objects.
struct CopyJobRegistry: Sendable {
    /// The limit of an id's length, above that of any issued id.
    private static let longestID = 128

    let database: Database
    let clock: any WallClock
    let identifiers: Identifiers
    let configuration: CopyJobsConfiguration
    let workers: CopyWorkers

    /// Creates a job, or returns the existing one if the user has sent the same idempotency key before, even if the configuration
    /// has changed since.
    func create(_ order: CopyOrder, by caller: Caller) async throws -> CopyJob {
        _ = try order.template.checked()
        let place = order.place
        let (id, now, user) = (identifiers.uuid(), clock.now(), caller.user)
        return try await database.write { connection in
            let records = CopyRecords(connection)
            let known = try order.idempotencyKey.flatMap {
                try records.job(idempotencyKey: $0, organizationID: caller.organization.id, userID: user.userID)
            }
            if let known {
                guard known.digest == order.digest else {
                    throw RPCError.invalidArgument(
                        "idempotency_key was already used for another request: use a new key for each request")
                }
                return known.job
            }
            let route = try route(to: place, of: caller.organization, in: connection)
            guard try records.countUnfinished(organizationID: caller.organization.id) < configuration.jobs else {
                throw RPCError(
                    .overloaded,
                    "the organization already has \(configuration.jobs) unfinished copy jobs: wait until one finishes",
                    retryAfterMilliseconds: 30_000)
            }
            let objects = try ObjectRecords(connection).objects(ids: order.fileIDs, scope: user.objectScope)
            // Made from the objects' own file ids, whichever ids the request contains.
            let sources = try objects.map {
                CopyKeySource($0, tags: try ObjectRecords(connection).tags(uploadID: $0.uploadID) ?? [:])
            }
            let keys = try order.template.keys(of: sources) { key, fileID in
                try records.isTaken(route.writer.path(of: key), byOtherThan: fileID)
            }
            try Self.check(keys, on: route)
            let job = CopyJob(
                id: id, organizationID: caller.organization.id, userID: user.userID, place: place,
                template: order.template,
                state: .queued, createdAt: now, reason: "", items: objects.count,
                size: objects.reduce(0) { $0 + $1.content.size })
            let items = zip(objects, keys).enumerated().map { number, item in
                CopyItem(
                    jobID: id, number: number, fileID: item.0.fileID, uploadID: item.0.uploadID, key: item.1,
                    size: item.0.content.size)
            }
            try records.insert(job, items, idempotencyKey: order.idempotencyKey, digest: order.digest)
            try Audit.record(caller.did(to: "copyJobs/\(id)"), at: now, in: connection)
            connection.afterCommit { [workers] in workers.wake() }
            return job
        }
    }

    private func route(
        to place: CopyPlace, of organization: OrganizationReference, in connection: Connection
    ) throws -> CopyRoute {
        guard let route = try workers.route(to: place, of: organization.id, in: connection) else {
            throw RPCError.invalidArgument(
                "destination must be listed for the organization in the gateway's configuration (copy.destinations)"
            )
        }
        return route
    }

    private static func check(_ keys: [String], on route: CopyRoute) throws(RPCError) {
        for key in keys {
            guard let objection = route.objection(to: key) else { continue }
            throw RPCError.invalidArgument(
                "\(KeyTemplate.field) makes the key \(key), which the destination does not accept: \(objection)")
        }
    }

    func job(_ id: String, for user: UserPrincipal) async throws -> (job: CopyJob, tally: CopyTally) {
        try Self.checkID(id)
        return try await database.read { connection in
            let records = CopyRecords(connection)
            return (try Self.find(id, for: user, records), try records.tally(of: id))
        }
    }

    /// Returns a page of the jobs that the user sees, newest first.
    ///
    /// - Parameter page: its cursor is a job's id.
    func list(_ page: Page, for user: UserPrincipal) async throws -> PageRows<(job: CopyJob, tally: CopyTally)> {
        let (scope, cursor, limit) = (user.objectScope, page.cursor, page.limit)
        // In the background, because all items of the jobs are counted.
        return try await database.readInBackground { connection in
            let records = CopyRecords(connection)
            let found = try records.jobs(scope: scope, before: cursor.isEmpty ? nil : cursor, limit: limit)
            return try found.map { ($0, try records.tally(of: $0.id)) }
        }
    }

    /// Returns the destinations that an organization can use, each with the folder in which its files go if organizations share the
    /// destination.
    func destinations(
        of organization: OrganizationReference
    ) async throws -> [(target: CopyTarget, prefix: String?)] {
        let targets = configuration.destinations
        return try await database.read { connection in
            try targets.compactMap { target in
                guard try target.isOpen(to: organization.id, in: connection) else { return nil }
                return (target, try target.folder(of: organization.id, in: connection))
            }
        }
    }

    /// Returns a page of a job's items, in the order of its request.
    ///
    /// - Parameters:
    ///   - states: the states to include; none = all.
    ///   - page: its cursor is an item's number.
    /// - Returns: the items, and the total number.
    func items(
        of id: String, in states: [CopyItemState], _ page: Page, for user: UserPrincipal
    ) async throws -> (items: PageRows<CopyItem>, total: Int) {
        try Self.checkID(id)
        let (cursor, limit) = (page.cursor, page.limit)
        // In the background, because all items are counted.
        return try await database.readInBackground { connection in
            let records = CopyRecords(connection)
            _ = try Self.find(id, for: user, records)
            let tally = try records.tally(of: id)
            let wanted = states.isEmpty ? CopyItemState.allCases : states
            return (
                try records.items(of: id, in: states, after: Int(cursor) ?? -1, limit: limit),
                Set(wanted).reduce(0) { $0 + tally[$1] }
            )
        }
    }

    /// Cancels a job. Items that no worker has begun are canceled at once, the others when their worker has stopped. A finished job
    /// stays unchanged.
    func cancel(_ id: String, reason: String, by caller: Caller) async throws -> CopyJob {
        try Self.checkID(id)
        try FieldRules.note(reason, field: "reason", limit: 512)
        let now = clock.now()
        return try await database.write { [workers] connection in
            let records = CopyRecords(connection)
            var job = try Self.find(id, for: caller.user, records)
            // Also after a repeated call, which stops items that have begun since.
            connection.afterCommit { workers.stop(job: id) }
            guard !job.state.isFinished, job.state != .canceling else { return job }
            let canceled = try records.cancelQueued(of: id)
            job.state = .canceling
            job.reason = reason
            let end = job.update(try records.tally(of: id), at: now)
            try records.update(job)
            try Audit.record(caller.did(to: "copyJobs/\(id)"), at: now, in: connection)
            connection.afterCommit {
                workers.metrics.update { counts in
                    counts.items[.canceled, default: 0] += canceled
                    if let end { counts.jobs[end, default: 0] += 1 }
                }
            }
            return job
        }
    }

    private static func checkID(_ id: String) throws(RPCError) {
        guard (1...longestID).contains(id.utf8.count) else {
            throw .invalidArgument("copy_job_id must be 1 to \(longestID) bytes")
        }
    }

    private static func find(
        _ id: String, for user: UserPrincipal, _ records: CopyRecords<some ReadConnection>
    ) throws -> CopyJob {
        guard let job = try records.job(id, scope: user.objectScope) else {
            throw RPCError.notFound("copy job \(id) does not exist")
        }
        return job
    }
}
