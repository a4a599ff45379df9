/// The transport of one call: a stream of HTTP/2 or an exchange of HTTP/1.1. A ``ServerCall`` uses only this interface, and does
/// not depend on the transport. Confined to the call's loop.
package protocol CallStream: AnyObject {
    /// Sends the next part of the response.
    func send(_ part: ResponsePart)

    /// Sends a header section, and after it the bytes of a source, if nothing waits to be sent. At the end it calls the call's
    /// `sourceEnded`.
    ///
    /// - Returns: `false` if the transport cannot wait for a source; nothing is sent then.
    func send(_ head: ResponsePart, before source: any BodySource) -> Bool

    /// The bytes of the response that were passed to `send` and are not sent yet.
    var unsentBytes: Int { get }

    /// Pauses or resumes the client's request, as far as the transport can.
    func holdRequest(_ isHeld: Bool)
}

extension CallStream {
    package func send(_ head: ResponsePart, before source: any BodySource) -> Bool { false }
}
