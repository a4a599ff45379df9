import GRPCWire
import HTTPTypes
package import RPC

/// The origin of a sign-in, for people who look at their sessions.
package struct SessionPlace: Sendable, Hashable {
    /// The longest description of a program, in bytes.
    private static let longestUserAgent = 256

    /// The address of the caller, without a port.
    package let address: String
    /// The program in its own words; empty if it did not say.
    let userAgent: String

    init(address: String, userAgent: String) {
        self.address = address
        self.userAgent = userAgent
    }

    package init(_ context: CallContext) {
        let printable = (context.metadata["user-agent"] ?? "").unicodeScalars.filter {
            $0.properties.generalCategory != .control
        }
        let text = String(String.UnicodeScalarView(printable))
        self.init(
            address: context.peer.host,
            userAgent: String(decoding: text.utf8.prefix(Self.longestUserAgent), as: UTF8.self))
    }
}
