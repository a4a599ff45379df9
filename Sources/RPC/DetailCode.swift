package import GRPCWire

/// An error code for clients, sent in `ErrorDetail.code`. An application declares its codes in an extension.
package struct DetailCode: Sendable, Hashable {
    /// The text that is sent, e.g. `DATA_GATEWAY_OVERLOADED`.
    package let rawValue: String
    /// The status that is always sent with the code.
    package let status: StatusCode

    package init(_ rawValue: String, _ status: StatusCode) {
        self.rawValue = rawValue
        self.status = status
    }
}
