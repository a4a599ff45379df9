import Wire

/// A code that clients branch on, as it travels in `ErrorDetail.code`. An application declares its own in an extension.
public struct DetailCode: Sendable, Hashable {
    /// The text that is sent, e.g. `DATA_GATEWAY_OVERLOADED`.
    public let rawValue: String
    /// The status that the code always travels with.
    public let status: StatusCode

    public init(_ rawValue: String, _ status: StatusCode) {
        self.rawValue = rawValue
        self.status = status
    }
}
