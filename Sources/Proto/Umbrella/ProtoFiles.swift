import Protobuf

/// All that `CommonProto` and `GatewayProto` declare, for reflection and for the JSON mapping.
public enum ProtoFiles {
    /// The embedded descriptor of every file.
    public static let all: [FileDescriptor] = CommonProtoFiles.all + GatewayProtoFiles.all

    /// Every message type.
    public static let messages: [any Message.Type] = CommonProtoFiles.messages + GatewayProtoFiles.messages
}
