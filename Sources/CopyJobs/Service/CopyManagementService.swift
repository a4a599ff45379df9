import Accounts
import Database
import GatewayAPI
import Proto
import RPC

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
