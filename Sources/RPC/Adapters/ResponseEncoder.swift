package import CommonProto
import GRPCWire

/// Writes a call's response in its protocol.
package protocol ResponseEncoder: AnyObject {
    /// Encodes a message.
    ///
    /// - Parameters:
    ///   - frame: the message, after the space for gRPC's prefix, which is filled in.
    ///   - state: the state of the call's response.
    func message(
        _ frame: [UInt8], _ context: CallContext, _ state: inout ResponseState
    ) throws(RPCError) -> ResponsePart

    /// Encodes a message of any bytes without copying them; `nil` if the protocol has no such form, and needs the message.
    func body(_ body: HttpBody, _ context: CallContext, _ state: inout ResponseState) -> ResponsePart?

    /// Returns the end of a successful call.
    func success(_ context: CallContext, _ state: inout ResponseState) -> ResponsePart

    /// Returns the end of a failed call.
    func failure(_ error: RPCError, _ context: CallContext, _ state: inout ResponseState) -> ResponsePart
}

extension ResponseEncoder {
    package func body(
        _ body: HttpBody, _ context: CallContext, _ state: inout ResponseState
    ) -> ResponsePart? { nil }
}

/// The progress of a response.
package struct ResponseState: Sendable {
    /// Whether the header section was sent.
    var hasBegun = false
    /// The compression of messages that the header section announced.
    var announced: MessageEncoding?
}
