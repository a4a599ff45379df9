import Wire

/// Writes a call's response in its protocol.
package protocol ResponseEncoder: AnyObject {
    /// - Parameters:
    ///   - frame: a message behind the room for gRPC's prefix, which is filled in.
    ///   - state: the call's own.
    func message(
        _ frame: [UInt8], _ context: CallContext, _ state: inout ResponseState
    ) throws(RPCError) -> ResponsePart

    /// The end of a call that succeeded.
    func success(_ context: CallContext, _ state: inout ResponseState) -> ResponsePart

    /// The end of a call that failed.
    func failure(_ error: RPCError, _ context: CallContext, _ state: inout ResponseState) -> ResponsePart
}

/// How far a response has come.
package struct ResponseState: Sendable {
    /// The header section was sent.
    var hasBegun = false
    /// How messages can be compressed: what the header section announced.
    var announced: MessageEncoding?
}
