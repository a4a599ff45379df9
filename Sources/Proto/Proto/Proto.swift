/// Every message and service that the gateway knows, under one name.
@_exported public import CommonProto
@_exported public import GatewayProto
