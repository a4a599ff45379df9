import CommonProto
import GRPCWire
package import HTTPTypes
import Protobuf

/// The parts of an error that are sent to a client, in every protocol.
extension RPCError {
    /// The longest message that is sent, in bytes. It may repeat the client's input, and is sent twice, escaped: peers accept 8 KiB
    /// of header fields, and nghttp2 does not send a section of more than 64 KiB.
    private static let longestMessage = 1024

    var sentMessage: String { String(decoding: message.utf8.prefix(Self.longestMessage), as: UTF8.self) }

    /// The code for clients; `nil` if the API has no code for the case.
    var sentDetail: ErrorDetail? {
        detail.map { ErrorDetail(code: $0.rawValue, message: sentMessage, metadata: metadata) }
    }

    /// The bytes of `grpc-status-details-bin`, for gRPC and gRPC-Web.
    var richStatus: [UInt8]? {
        sentDetail.map { RichStatus.encode(status, detail: $0.encoded(), type: ErrorDetail.fullName) }
    }

    private var sortedMetadata: [(name: String, value: String)] {
        metadata.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }

    var connect: ConnectError {
        let details = sentDetail.map { detail in
            ConnectError.Detail(
                type: ErrorDetail.fullName, value: detail.encoded(),
                debug: [("code", detail.code), ("message", detail.message)] + sortedMetadata)
        }
        return ConnectError(status, sentMessage, details: details.map { [$0] } ?? [])
    }
}

extension MessageEncoding {
    /// The supported compressions of messages, as a list for header fields.
    static let offered = (["identity"] + allCases.map(\.rawValue)).joined(separator: ",")
}

extension RPCError {
    /// The error as a response over HTTP/1.1, in the form of Connect's unary calls.
    package var httpResponse: HTTPResponse {
        let part = ConnectUnaryEncoder.failure(self, status: status.httpStatus, [])
        var fields = HTTPFields()
        for (name, value) in part.head?.fields ?? [] { fields.append(name, String(decoding: value, as: UTF8.self)) }
        return HTTPResponse(status: status.httpStatus, fields: fields, body: .bytes(part.body))
    }
}
