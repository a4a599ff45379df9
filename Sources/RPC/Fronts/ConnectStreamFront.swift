import Wire

/// Connect's streams: messages behind prefixes, the status in the last of them; HTTP's is always 200 (Connect protocol,
/// "Streaming-Request" and "Streaming-Response").
final class ConnectStreamFront: FramedFront {
    override var encodingField: String { "connect-content-encoding" }

    override func reply(to frame: [UInt8], _ context: CallContext) throws(RPCError) -> Reply {
        let message = try request.codec.encode(frame[MessagePrefix.byteCount...])
        return Reply(head: firstHead(context), body: framed(message, context))
    }

    override func success(_ context: CallContext) -> Reply {
        Reply(
            head: firstHead(context), body: ConnectEndOfStream.frame(nil, metadata: context.trailingMetadata),
            isLast: true)
    }

    override func failure(_ error: RPCError, _ context: CallContext) -> Reply {
        var metadata = context.trailingMetadata
        if let milliseconds = error.retryAfterMilliseconds {
            metadata.append(name: "retry-after-ms", value: "\(milliseconds)")
        }
        return Reply(
            head: firstHead(context), body: ConnectEndOfStream.frame(error.connect, metadata: metadata), isLast: true)
    }
}
