/// Every message and service that the gateway knows, under one name.
@_exported import CommonProto
@_exported import GatewayProto
