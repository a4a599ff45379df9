/// The transport of one call: a stream of HTTP/2 or an exchange of HTTP/1.1. A ``ServerCall`` uses only this interface, and does
/// not depend on the transport. Confined to the call's loop.
package protocol CallStream: AnyObject {
    /// Sends the next part of the response.
    func send(_ part: ResponsePart)

    /// The bytes of the response that were passed to `send` and are not sent yet.
    var unsentBytes: Int { get }

    /// Pauses or resumes the client's request, as far as the transport can.
    func holdRequest(_ isHeld: Bool)
}
