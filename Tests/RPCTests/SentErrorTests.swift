import Basics
import GatewayFormats
import Proto
import TestSupport
import Testing
import Wire

@testable import RPC

/// The bytes of `grpc-status-details-bin`, read like by each kind of client.
@Suite(.timeLimited) struct SentErrorTests {
    /// `google.rpc.Status`, read like by generated code: a field with another wire type is skipped.
    private struct Status: Message {
        static var fullName: String { "google.rpc.Status" }
        var code: Int32 = 0
        var message = ""
        var details: [AnyMessage] = []
        var unknownFields = UnknownFields()

        mutating func merge(from reader: inout ProtobufReader) throws(DecodingError) {
            while let tag = try reader.nextTag() {
                switch tag {
                case 8: try ProtoInt32.merge(into: &code, from: &reader)
                case 18: try ProtoString.merge(into: &message, from: &reader)
                case 26: details.append(try ProtoMessage<AnyMessage>.read(from: &reader))
                default: try reader.readUnknown(tag, into: &unknownFields)
                }
            }
        }

        var encodedSize: Int { 0 }
        func write(to writer: inout ProtobufWriter) {}
    }

    private static let errors = [
        RPCError(.uploadNotFound, "there is no such upload"),
        RPCError(.invalidArgument, ""),
        RPCError(.deviceNotReady, String(repeating: "ü☺", count: 400)),
    ]

    @Test(arguments: errors)
    func detailsStartWithTheStatus(error: RPCError) throws {
        let bytes = try #require(error.richStatus)
        #expect(Array(bytes.prefix(2)) == [0x08, UInt8(error.status.rawValue)])
        let detail = try #require(error.sentDetail).encoded()
        #expect(Array(bytes.dropFirst(2).prefix(detail.count)) == detail)
    }

    @Test(arguments: errors)
    func detailsDecodeAsErrorDetail(error: RPCError) throws {
        let detail = try ErrorDetail(decoding: try #require(error.richStatus))
        #expect(detail.code == error.detail?.rawValue)
        #expect(detail.message == error.sentMessage)
        #expect(!detail.unknownFields.isEmpty)
    }

    @Test(arguments: errors)
    func detailsDecodeAsStatus(error: RPCError) throws {
        let status = try Status(decoding: try #require(error.richStatus))
        #expect(status.code == Int32(error.status.rawValue))
        #expect(status.message == error.sentMessage)
        #expect(status.details.map(\.typeURL) == ["type.googleapis.com/archebase.common.v1.ErrorDetail"])
        #expect(try ErrorDetail(decoding: status.details[0].value) == error.sentDetail)
    }

    @Test(arguments: errors)
    func messageIsThatOfTheTrailers(error: RPCError) throws {
        let fields = GRPCSections.fields(error)
        let message = try #require(fields.first { $0.name == "grpc-message" }).value
        let details = try #require(fields.first { $0.name == "grpc-status-details-bin" }).value
        let decoded = try #require(Base64.decode(String(decoding: details, as: UTF8.self)))
        #expect(try PercentEncoding.decode(message) == ErrorDetail(decoding: decoded).message)
        #expect(!details.contains(UInt8(ascii: "=")))
        // Peers accept 8 KiB of header fields, counting 32 bytes for each in addition to its own.
        #expect(fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.count + 32 } < 8000)
    }

    @Test func errorWithoutCodeHasNoDetails() {
        let fields = GRPCSections.fields(.notFound("there is no such site"))
        #expect(!fields.contains { $0.name == "grpc-status-details-bin" })
    }
}
