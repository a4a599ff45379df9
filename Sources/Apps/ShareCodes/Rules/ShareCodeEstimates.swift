/// The numbers of stored rows, for their limits.
struct ShareCodeEstimates: Sendable {
    let live: RowEstimate
    let umids: RowEstimate
    let requests: RowEstimate

    init(_ configuration: ShareCodesConfiguration) {
        live = RowEstimate(limit: configuration.liveCodes)
        umids = RowEstimate(limit: configuration.umids)
        requests = RowEstimate(limit: configuration.storedStatusRequests)
    }
}
