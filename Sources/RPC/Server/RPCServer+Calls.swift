import Protobuf

extension RPCServer {
    /// Starts the call of a request whose header section is complete, or refuses the request.
    ///
    /// - Returns: the receiver of the request's body; `nil` if the response is complete.
    package func open(
        _ head: inout RequestHead, from origin: CallOrigin, on stream: any CallStream
    ) -> ServerCall? {
        if head.isTooLarge { metrics.limitReached("header_list_size") }
        do throws(RequestRefusal) {
            return open(try head.adapt(for: self), &head, from: origin, on: stream)
        } catch {
            if let reason = error.reason { note(reason, head, from: origin) }
            stream.send(error.response)
            return nil
        }
    }

    /// Starts a call of a caller within the process: the request is one message in the protobuf encoding.
    ///
    /// - Parameter encoder: writes the response, and receives the error.
    package func open(
        _ head: inout RequestHead, for encoder: LocalEncoder, from origin: CallOrigin, on stream: any CallStream
    ) -> ServerCall? {
        guard let method = head.method else {
            stream.send(encoder.refuse(.unimplemented("this listener has no method \(head.unknownPath)")))
            return nil
        }
        let request = WholeBodyDecoder(limit: limit(of: method), isCompressed: false)
        let adapted = AdaptedCall(
            method: method, adapter: CallProtocolAdapter(request: .wholeBody(request), response: encoder),
            fault: head.isTooLarge ? .invalidRequest("the metadata exceeds its limit") : nil)
        return open(adapted, &head, from: origin, on: stream)
    }

    func open(
        _ adapted: consuming AdaptedCall, _ head: inout RequestHead, from origin: CallOrigin, on stream: any CallStream
    ) -> ServerCall {
        let method = adapted.method
        let context = CallContext(method.descriptor, head, from: origin, log: log)
        let call = method.call(
            CallSetup(
                context: context, origin: origin, stream: stream, adapter: adapted.adapter, encoding: head.encoding,
                messageLimit: limit(of: method)))
        call.begin(adapted.fault)
        return call
    }

    /// Returns the largest request message of a method, in bytes, also after decompression.
    func limit(of method: any Method) -> Int { method.rules.maximumRequest ?? limits.maxMessageSize }

    /// Counts a request that is not a call, and reports it to the interceptors.
    private func note(_ reason: RefusedRequest.Reason, _ head: RequestHead, from origin: CallOrigin) {
        metrics.requestRefused(reason)
        let path = head.method?.descriptor.path ?? String(head.unknownPath.prefix { $0 != "?" }.prefix(200))
        let request = RefusedRequest(reason: reason, path: path, peer: origin.peer, requestID: head.requestID)
        for interceptor in interceptors { interceptor.refused(request) }
    }
}
