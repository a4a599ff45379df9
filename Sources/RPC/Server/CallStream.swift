/// The transport of one call: what a request came by and its response goes by, a stream of HTTP/2 or an exchange of
/// HTTP/1.1. A ``ServerCall`` asks for no more than this, and does not know which it is. Confined to the call's loop.
package protocol CallStream: AnyObject {
    /// Sends the next part of the response.
    func send(_ part: ResponsePart)

    /// Bytes of the response that were given to `send` and wait for the client.
    var unsentBytes: Int { get }

    /// Has the client wait with its request, as far as the transport can, or go on.
    func holdRequest(_ isHeld: Bool)
}
