import CommandLineInterface
import JSON
import Proto

/// The display names of devices, for lists that have their ids.
struct DeviceDisplayNames {
    /// The devices in one request.
    private static let most = 1000

    private var names: [String: String] = [:]

    /// - Parameter ids: may contain empty texts, and a device several times.
    init(of ids: [String], _ gateway: SignedInConnection) async throws {
        let ids = Set(ids).subtracting([""]).sorted()
        for start in stride(from: 0, to: ids.count, by: Self.most) {
            let request = GetDeviceNamesRequest(deviceIDs: Array(ids[start..<min(start + Self.most, ids.count)]))
            let reply = try await DeviceManagementServiceClient(gateway).getDeviceNames(request)
            names.merge(reply.displayNames) { $1 }
        }
    }

    /// The name of a device; empty = none.
    subscript(id: String) -> String { names[id] ?? "" }
}

extension ResourceField {
    /// The display name of a device. People see the id of a device without a name.
    static func deviceName(_ name: String, of id: String) -> ResourceField {
        ResourceField(name: "device_name", json: .string(name), text: name.isEmpty ? id : name, heading: "device")
    }
}
