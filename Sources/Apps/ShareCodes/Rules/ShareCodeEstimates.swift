/// The numbers of stored rows, for their limits.
struct ShareCodeEstimates: Sendable {
    let live: RowEstimate
    let umids: RowEstimate
    let requests: RowEstimate

    init(_ configuration: ShareCodesConfiguration) {
        let percent = configuration.percentOfAddress
        live = RowEstimate("share codes", limit: configuration.liveCodes, percentOfAddress: percent)
        umids = RowEstimate("umids", limit: configuration.umids, percentOfAddress: percent)
        requests = RowEstimate(
            "requests", limit: configuration.storedStatusRequests, percentOfAddress: percent)
    }
}
