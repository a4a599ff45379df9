public import Protobuf

/// All that `CommonProto` and `GatewayProto` declare, for reflection and for the JSON mapping.
public enum ProtoFiles {
    /// The embedded descriptor of every file.
    public static let all: [FileDescriptor] =
        CommonProtoFiles.all + [.googleProtobufDescriptorProto] + GatewayProtoFiles.all

    /// The HTTP requests that call the methods of all services.
    public static let routes: [HTTPRoute] = CommonProtoFiles.routes + GatewayProtoFiles.routes

    /// The comments of all files except protobuf's own: on each line a full name, a tab and the text.
    public static let comments = CommonProtoFiles.comments + "\n" + GatewayProtoFiles.comments

    /// Every message type.
    public static let messages: [any Message.Type] = CommonProtoFiles.messages + GatewayProtoFiles.messages
}
