// swift-tools-version: 6.2
import PackageDescription

/// Warnings are errors. Optimized builds leave out the run-time half of the exclusivity check, which costs every access
/// to a class's property; the compile-time half stays, and debug builds, which the tests run, have both.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
]

/// A module of the product; its folder is `Sources/NAME`, or `path` below `Sources` where modules stand in a group.
func module(
    _ name: String, _ dependencies: [Target.Dependency], path: String? = nil, exclude: [String] = [],
    resources: [Resource] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(path ?? name)", exclude: exclude,
        resources: resources, swiftSettings: strict)
}

func tests(_ module: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .testTarget(
        name: "\(module)Tests", dependencies: [.byName(name: module)] + dependencies, exclude: exclude,
        swiftSettings: strict)
}

/// A library of the system, from Debian's -dev packages; `make deps` installs them all.
func system(_ name: String, pkgConfig: String?, packages: String...) -> Target {
    .systemLibrary(
        name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig, providers: [.apt(packages)])
}

let package = Package(
    name: "data-gateway",
    products: [
        .executable(name: "data-gateway", targets: ["GatewayServer"]),
        .executable(name: "protoc-gen-gateway", targets: ["protoc-gen-gateway"]),
        .library(name: "Wire", targets: ["Wire"]),
        .library(name: "Proto", targets: ["Proto"]),
        .library(name: "FuzzEntryPoints", targets: ["FuzzEntryPoints"]),
        .library(name: "counters", type: .dynamic, targets: ["Counters"]),
    ],
    targets: [
        system("CNghttp2", pkgConfig: "libnghttp2", packages: "libnghttp2-dev"),
        system("CUV", pkgConfig: "libuv", packages: "libuv1-dev"),
        system("COpenSSL", pkgConfig: "openssl", packages: "libssl-dev"),
        system("CMicrohttpd", pkgConfig: "libmicrohttpd", packages: "libmicrohttpd-dev", "libgnutls28-dev"),
        system("CSQLite", pkgConfig: "sqlite3", packages: "libsqlite3-dev"),
        system("CArgon2", pkgConfig: "libargon2", packages: "libargon2-dev"),
        system("CLZMA", pkgConfig: "liblzma", packages: "liblzma-dev"),
        system("CLinux", pkgConfig: nil, packages: "libc6-dev"),
        system("CZlib", pkgConfig: "zlib", packages: "zlib1g-dev"),
        system("CCurl", pkgConfig: "libcurl", packages: "libcurl4-openssl-dev"),
        system("CQRencode", pkgConfig: "libqrencode", packages: "libqrencode-dev"),

        module("Basics", [], path: "Platform/Basics"),
        module("Crypto", ["Basics", "COpenSSL"], path: "Platform/Crypto"),
        module("XML", []),
        module("Protobuf", ["Basics"], path: "Wire/Protobuf"),
        module("ProtobufJSON", ["Basics", "Protobuf"], path: "Wire/ProtobufJSON"),
        module("HTTP2", ["Basics", "CNghttp2"], path: "Wire/HTTP2"),
        module("GRPCWire", ["Basics", "Protobuf", "ProtobufJSON", "CZlib"], path: "Wire/GRPCWire"),
        module("HTTPTypes", ["Crypto"], path: "Wire/HTTPTypes"),
        module("Wire", ["GRPCWire", "HTTP2", "Protobuf", "ProtobufJSON"], path: "Wire/Umbrella"),
        module("CommonProto", ["GRPCWire", "Protobuf"], path: "Proto/CommonProto"),
        module("GatewayProto", ["CommonProto", "GRPCWire", "Protobuf"], path: "Proto/GatewayProto"),
        module("Proto", ["CommonProto", "GatewayProto", "Protobuf"], path: "Proto/Umbrella"),
        .executableTarget(name: "protoc-gen-gateway", dependencies: ["Protobuf"], swiftSettings: strict),
        module("Sockets", ["Basics", "COpenSSL", "HTTPTypes"], path: "Network/Sockets"),
        module("RPC", ["Wire", "HTTPTypes", "CommonProto", "Basics", "Crypto", "Sockets"]),
        module("GatewayErrors", ["RPC"], path: "API/GatewayErrors"),

        module(
            "EventLoops", ["Basics", "COpenSSL", "CUV", "HTTPTypes", "RPC", "Sockets", "Wire"],
            path: "Network/EventLoops"),
        module(
            "HTTPServer", ["Basics", "CMicrohttpd", "COpenSSL", "Crypto", "HTTPTypes", "Sockets"],
            path: "Network/HTTPServer"),
        module(
            "HTTPCalls", ["Basics", "CLinux", "EventLoops", "HTTPTypes", "RPC", "Wire"],
            path: "Network/HTTPCalls"),
        module("HTTPClient", ["HTTPTypes", "CCurl"], path: "Network/HTTPClient"),
        module("Database", ["Basics", "CLinux", "CSQLite"]),
        module("GatewayAPI", ["Basics", "Crypto", "Database", "GatewayErrors", "RPC"], path: "API/GatewayAPI"),
        module("ObjectStore", ["Database", "HTTPTypes", "HTTPServer", "Basics", "Crypto", "XML", "CLZMA", "CLinux"]),
        module("Accounts", ["GatewayAPI", "HTTPTypes", "RPC", "Proto", "Database", "Basics", "Crypto", "CArgon2"]),
        module(
            "Webhooks",
            ["Accounts", "HTTPClient", "HTTPTypes", "GatewayAPI", "RPC", "Proto", "Database", "Basics", "Crypto"]),
        module(
            "DeviceInit",
            ["Webhooks", "Accounts", "GatewayAPI", "HTTPTypes", "RPC", "Proto", "Database", "Basics", "Crypto"]),
        module("Catalog", ["Accounts", "ObjectStore", "GatewayAPI", "RPC", "Proto", "Database", "Basics", "Crypto"]),
        module(
            "Uploads",
            [
                "Catalog", "Webhooks", "Accounts", "ObjectStore", "GatewayAPI", "RPC", "Proto", "Database", "Basics",
                "Crypto",
            ]),
        module(
            "Backup", ["Uploads", "Accounts", "ObjectStore", "RPC", "Proto", "Database", "Basics", "Crypto", "Wire"]),
        module("Console", ["HTTPTypes", "Proto", "Basics", "Crypto", "Wire"], resources: [.embedInCode("Assets")]),
        module("Transfer", ["ObjectStore", "HTTPClient", "HTTPTypes", "Basics", "XML"]),
        module(
            "CopyJobs",
            [
                "Catalog", "Accounts", "HTTPClient", "Transfer", "ObjectStore", "GatewayAPI", "RPC", "Proto",
                "Database", "Basics", "Crypto",
            ]),
        module(
            "DeviceClient",
            [
                "Transfer", "ObjectStore", "HTTPClient", "HTTPTypes", "EventLoops", "Sockets", "GatewayErrors", "RPC",
                "Proto",
                "Wire",
                "Basics", "Crypto",
            ]),
        .executableTarget(
            name: "GatewayServer",
            dependencies: [
                "Accounts", "Backup", "CQRencode", "Catalog", "Console", "CopyJobs", "Database", "DeviceClient",
                "DeviceInit", "Webhooks", "GatewayAPI", "HTTPClient", "HTTPTypes", "EventLoops", "HTTPCalls",
                "HTTPServer", "Sockets",
                "ObjectStore",
                "Basics", "Crypto", "Proto",
                "RPC",
                "Transfer", "Uploads", "Wire",
            ],
            swiftSettings: strict),

        .target(name: "Counters", path: "Tests/Counters"),
        .target(name: "HTTPTestClient", path: "Tests/HTTPTestClient", swiftSettings: strict),
        tests("Basics"),
        tests("Crypto", ["Basics"]),
        tests("XML"),
        .target(
            name: "WireTesting", dependencies: ["Wire", "Proto"], path: "Tests/WireTesting", swiftSettings: strict),
        .target(
            name: "FuzzEntryPoints", dependencies: ["WireTesting", "XML"], path: "Tests/FuzzEntryPoints",
            swiftSettings: strict),
        .executableTarget(
            name: "interop-server",
            dependencies: ["HTTPTypes", "EventLoops", "HTTPCalls", "HTTPServer", "Sockets", "RPC", "Wire"],
            path: "Tests/InteropServer",
            swiftSettings: strict),
        .executableTarget(
            name: "echo-server", dependencies: ["HTTPTypes", "EventLoops", "Sockets", "RPC", "Wire"],
            path: "Benchmarks/Echo/Server",
            swiftSettings: strict),
        tests("Wire", ["GRPCWire", "HTTP2", "Protobuf", "ProtobufJSON", "WireTesting"]),
        tests("Proto", ["FuzzEntryPoints", "Wire", "WireTesting", "protoc-gen-gateway"]),
        tests("RPC", ["GatewayErrors", "HTTPTypes", "Basics", "Proto", "Wire"]),
        tests("GatewayErrors", ["RPC", "Wire"]),
        .testTarget(
            name: "NetworkTests",
            dependencies: [
                "Basics", "EventLoops", "GatewayErrors", "HTTPCalls", "HTTPServer", "HTTPTestClient", "HTTPTypes",
                "Proto", "RPC",
                "Sockets", "Wire",
            ],
            swiftSettings: strict),
        tests("Database", ["Basics"]),
        tests(
            "ObjectStore", ["HTTPTestClient", "HTTPTypes", "Database", "Basics", "Crypto", "RPC", "XML"],
            exclude: ["Vectors"]),
        tests("Accounts", ["GatewayAPI", "HTTPTypes"]),
        tests("Webhooks", ["Accounts", "Basics", "Crypto", "Database", "HTTPClient", "RPC"]),
        tests("DeviceInit", ["GatewayAPI", "HTTPTypes"]),
        tests(
            "Catalog",
            ["Accounts", "Database", "GatewayAPI", "ObjectStore", "Basics", "Crypto", "Proto", "RPC", "Wire"]),
        tests(
            "CopyJobs",
            [
                "Accounts", "Catalog", "Database", "GatewayAPI", "HTTPClient", "ObjectStore", "Basics", "Crypto",
                "Proto",
                "RPC", "Transfer",
                "Wire",
            ]),
        tests(
            "Uploads",
            [
                "Accounts", "Catalog", "Database", "DeviceClient", "GatewayAPI", "HTTPClient", "HTTPTypes",
                "ObjectStore", "Basics", "Crypto",
                "Proto",
                "RPC",
                "Transfer", "Wire",
            ]),
        tests("Backup", ["Database", "ObjectStore", "Crypto"]),
        tests("Transfer", ["HTTPClient", "HTTPTestClient", "HTTPTypes", "ObjectStore", "Basics", "Crypto"]),
        tests(
            "DeviceClient",
            ["GatewayErrors", "HTTPClient", "HTTPTypes", "Transfer", "ObjectStore", "Proto", "RPC", "Wire", "Basics"]),
        tests("Console", ["HTTPTypes", "Basics", "Proto", "Wire"]),
        tests(
            "GatewayServer", ["CopyJobs", "GatewayAPI", "HTTPTypes", "EventLoops", "Basics", "Proto", "RPC", "Wire"]),
    ],
    swiftLanguageModes: [.v6]
)
