import HTTPTypes

extension RPCError {
    /// A failed call's response over HTTP/1.1, as Connect has it for unary calls.
    package var httpResponse: HTTPResponse {
        let part = ConnectUnaryEncoder.failure(self, status: status.httpStatus, [])
        var fields = HTTPFields()
        for (name, value) in part.head?.fields ?? [] { fields.append(name, String(decoding: value, as: UTF8.self)) }
        return HTTPResponse(status: status.httpStatus, fields: fields, body: .bytes(part.body))
    }
}
