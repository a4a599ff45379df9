import SwiftProtobuf

/// `benchmark.EchoMessage`, in the form of protoc-gen-swift.
struct EchoMessage: SwiftProtobuf.Message, SwiftProtobuf._MessageImplementationBase, SwiftProtobuf._ProtoNameProviding {
    static let protoMessageName = "benchmark.EchoMessage"
    // swift-format-ignore: AlwaysUseLowerCamelCase
    static let _protobuf_nameMap: SwiftProtobuf._NameMap = [1: .same(proto: "text")]

    var text = ""
    var unknownFields = SwiftProtobuf.UnknownStorage()

    mutating func decodeMessage<D: SwiftProtobuf.Decoder>(decoder: inout D) throws {
        while let number = try decoder.nextFieldNumber() {
            if number == 1 { try decoder.decodeSingularStringField(value: &text) }
        }
    }

    func traverse<V: SwiftProtobuf.Visitor>(visitor: inout V) throws {
        if !text.isEmpty { try visitor.visitSingularStringField(value: text, fieldNumber: 1) }
        try unknownFields.traverse(visitor: &visitor)
    }

    static func == (left: EchoMessage, right: EchoMessage) -> Bool {
        left.text == right.text && left.unknownFields == right.unknownFields
    }
}
