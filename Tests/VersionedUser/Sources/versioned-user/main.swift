import Proto
import Wire

// Prints a message that was encoded, decoded and converted to JSON.
var request = InitDeviceRequest()
request.deviceID = "robot-7"
let again = try InitDeviceRequest(decoding: request.encoded())
let json = try JSONMapping(schema: try Schema(ProtoFiles.all)).text(again)
print(String(decoding: json, as: UTF8.self))
