/// The numbers of stored rows, for their limits.
struct ShareCodeEstimates: Sendable {
    let live: RowEstimate
    let umids: RowEstimate
    let requests: RowEstimate

    init(_ configuration: ShareCodesConfiguration) {
        live = RowEstimate("share codes", limit: configuration.liveCodes)
        umids = RowEstimate("umids", limit: configuration.umids)
        requests = RowEstimate("requests", limit: configuration.storedStatusRequests)
    }
}
