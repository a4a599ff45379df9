import GRPCWire
package import HTTPTypes

extension RPCError {
    /// The error as a response over HTTP/1.1, in the form of Connect's unary calls.
    package var httpResponse: HTTPResponse {
        let part = ConnectUnaryEncoder.failure(self, status: status.httpStatus, [])
        var fields = HTTPFields()
        for (name, value) in part.head?.fields ?? [] { fields.append(name, String(decoding: value, as: UTF8.self)) }
        return HTTPResponse(status: status.httpStatus, fields: fields, body: .bytes(part.body))
    }
}
