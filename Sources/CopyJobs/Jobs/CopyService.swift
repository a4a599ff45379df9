import Accounts
import Database
import GatewayAPI
import Proto
import RPC

/// The gRPC service DataGatewayCopyService, which converts messages and calls the rules.
struct CopyService: DataGatewayCopyServiceHandler {
    let jobs: CopyJobRegistry
    let tokens: PageTokens

    func createCopyJob(_ request: CreateCopyJobRequest, context: CallContext) async throws -> CreateCopyJobResponse {
        let caller = try Caller(context)
        let order = try CopyOrder(request, limit: jobs.configuration.items, otherKey: context.balancedKey)
        let job = try await jobs.create(order, by: caller)
        return CreateCopyJobResponse(
            copyJobID: job.id, status: CopyJobStatus(job.state), totalItems: Int32(clamping: job.items),
            estimatedTotalBytes: job.size)
    }

    func getCopyJob(_ request: GetCopyJobRequest, context: CallContext) async throws -> GetCopyJobResponse {
        let (job, tally) = try await jobs.job(request.copyJobID, for: try context.user)
        return GetCopyJobResponse(job: CopyJobView(job, tally))
    }

    func listCopyJobItems(
        _ request: ListCopyJobItemsRequest, context: CallContext
    ) async throws -> ListCopyJobItemsResponse {
        let user = try context.user
        let states = try request.statuses.map { status throws(RPCError) in
            guard let state = CopyItemState(status) else {
                throw .invalidArgument("statuses must hold states of copy items, not \(status.rawValue)")
            }
            return state
        }
        let filter = Set(states.map(\.rawValue)).sorted().map(String.init).joined(separator: ",")
        let page = try Page(
            size: request.pageSize, token: request.pageToken, tokens: tokens,
            scope: "items of copy job \(request.copyJobID) in \(filter) for \(user.userID)")
        let (items, total) = try await jobs.items(of: request.copyJobID, in: states, page, for: user)
        return ListCopyJobItemsResponse(
            items: items.rows.map(CopyJobItemView.init),
            nextPageToken: page.next(after: items) { String($0.number) }, totalSize: Int32(clamping: total))
    }

    func cancelCopyJob(_ request: CancelCopyJobRequest, context: CallContext) async throws -> CancelCopyJobResponse {
        let job = try await jobs.cancel(request.copyJobID, reason: request.reason, by: try Caller(context))
        return CancelCopyJobResponse(copyJobID: job.id, status: CopyJobStatus(job.state))
    }
}

/// The gRPC service CopyManagementService, which converts messages and calls the rules.
struct CopyManagementService: CopyManagementServiceHandler {
    let jobs: CopyJobRegistry
    let tokens: PageTokens

    func listCopyJobs(_ request: ListCopyJobsRequest, context: CallContext) async throws -> ListCopyJobsResponse {
        let user = try context.user
        let page = try Page(
            size: request.pageSize, token: request.pageToken, tokens: tokens,
            scope: "copy jobs of \(user.objectScope.map(String.init) ?? "all") for \(user.userID)")
        let found = try await jobs.list(page, for: user)
        return ListCopyJobsResponse(
            jobs: found.rows.map { CopyJobView($0.job, $0.tally) },
            nextPageToken: page.next(after: found) { $0.job.id })
    }

    func listCopyDestinations(
        _ request: ListCopyDestinationsRequest, context: CallContext
    ) async throws -> ListCopyDestinationsResponse {
        let found = try await jobs.destinations(of: try Caller(context).organization)
        return ListCopyDestinationsResponse(
            destinations: found.map { found in
                CopyDestinationView(
                    name: found.target.name,
                    destination: CopyDestination(
                        bucket: found.target.place.place.bucket, endpoint: found.target.place.place.endpoint,
                        region: found.target.place.place.region),
                    keyPrefix: found.prefix.map { "\($0)/" } ?? "")
            })
    }
}
