import GatewayAPI
import RPC

/// The resource names in requests and responses of management calls: `deviceSuites/7`, `devices/260427-000001`.
enum ResourceName {
    static func suite(_ id: Int64) -> String { "deviceSuites/\(id)" }

    static func device(_ id: String) -> String { "devices/\(id)" }

    static func suiteID(_ name: String, field: String) throws(RPCError) -> Int64 {
        let prefix = "deviceSuites/"
        guard name.hasPrefix(prefix), let id = Int64(name.dropFirst(prefix.count)), id > 0, suite(id) == name else {
            throw .invalidArgument("\(field) must be deviceSuites/NUMBER")
        }
        return id
    }

    static func deviceID(_ name: String, field: String) throws(RPCError) -> DeviceID {
        let prefix = "devices/"
        guard name.hasPrefix(prefix) else { throw .invalidArgument("\(field) must be devices/YYMMDD-NNNNNN") }
        return try DeviceID(String(name.dropFirst(prefix.count)))
    }
}
