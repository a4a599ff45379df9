import CommonProto
import Wire

/// What a client is sent of an error, in whichever protocol.
extension RPCError {
    /// Bytes of a message that are sent. It may repeat what the client sent, and travels twice, escaped: peers take 8 KiB
    /// of header fields, and nghttp2 does not send a section of more than 64.
    private static let longestMessage = 1024

    var sentMessage: String { String(decoding: message.utf8.prefix(Self.longestMessage), as: UTF8.self) }

    /// What clients branch on; `nil` where the contract has no code for the case.
    var sentDetail: ErrorDetail? {
        detail.map { ErrorDetail(code: $0.rawValue, message: sentMessage) }
    }

    /// The bytes of `grpc-status-details-bin`, over gRPC and gRPC-Web alike.
    var richStatus: [UInt8]? {
        sentDetail.map { RichStatus.encode(status, detail: $0.encoded(), type: ErrorDetail.fullName) }
    }

    var connect: ConnectError {
        let details = sentDetail.map { detail in
            ConnectError.Detail(
                type: ErrorDetail.fullName, value: detail.encoded(),
                debug: [("code", detail.code), ("message", detail.message)])
        }
        return ConnectError(status, sentMessage, details: details.map { [$0] } ?? [])
    }
}

extension MessageEncoding {
    /// What messages may be compressed with, as header fields list it.
    static let offered = (["identity"] + allCases.map(\.rawValue)).joined(separator: ",")
}
