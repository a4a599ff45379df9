import Wire

/// A code that clients branch on, as it travels in `ErrorDetail.code`. An application declares its own in an extension.
package struct DetailCode: Sendable, Hashable {
    /// The text that is sent, e.g. `DATA_GATEWAY_OVERLOADED`.
    package let rawValue: String
    /// The status that the code always travels with.
    package let status: StatusCode

    package init(_ rawValue: String, _ status: StatusCode) {
        self.rawValue = rawValue
        self.status = status
    }
}
