import Basics

/// The gateway's listeners, with their names in commands and in scripts.
package enum ListenerName: String, CaseIterable, Sendable {
    case auth
    case gateway
    case admin
    case internalStorage = "internal"
    case deviceInit = "device-init"
    case objectStore = "object-store"
    case web
    case apps
    case ops

    /// The listeners for gRPC.
    package static let grpc: [ListenerName] = [.auth, .gateway, .admin, .internalStorage, .deviceInit]
    /// The listeners that can use TLS.
    package static let securable: [ListenerName] = grpc + [.objectStore, .web, .apps]

    /// The value that disables a listener, in place of an address.
    package static let off = "off"

    /// The listener's key in the configuration.
    package var key: String { "listeners.\(settingName)" }
    /// The key's name in its section.
    package var settingName: String { rawValue.replacing(bytes: ["-": "_"]) }
    package var option: String { "--\(rawValue)-listen" }

    /// The default address.
    package var standardAddress: String {
        switch self {
        case .auth: "127.0.0.1:50051"
        case .gateway: "127.0.0.1:50053"
        case .admin: "127.0.0.1:50054"
        case .internalStorage: Self.off
        case .deviceInit: "127.0.0.1:50057"
        case .objectStore: "127.0.0.1:50080"
        case .web: "127.0.0.1:50070"
        case .apps: Self.off
        case .ops: "127.0.0.1:50090"
        }
    }
}
