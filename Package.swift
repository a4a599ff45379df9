// swift-tools-version: 6.2
import PackageDescription

/// Warnings are errors. Optimized builds leave out the run-time half of the exclusivity check, which costs every access
/// to a class's property; the compile-time half stays, and debug builds, which the tests run, have both.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
]

func room(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

func tests(_ room: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .testTarget(
        name: "\(room)Tests", dependencies: [.byName(name: room)] + dependencies, exclude: exclude,
        swiftSettings: strict)
}

/// A library of the system, from Debian's -dev packages; `make deps` installs them all.
func system(_ name: String, pkgConfig: String?, packages: String...) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt(packages)])
}

let package = Package(
    name: "data-gateway",
    products: [
        .executable(name: "data-gateway", targets: ["GatewayServer"]),
        .executable(name: "protoc-gen-gateway", targets: ["protoc-gen-gateway"]),
        .library(name: "Wire", targets: ["Wire"]),
        .library(name: "Proto", targets: ["Proto"]),
        .library(name: "FuzzEntryPoints", targets: ["FuzzEntryPoints"]),
        .library(name: "allocations", type: .dynamic, targets: ["AllocationCounter"]),
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

        room("Platform", ["COpenSSL"]),
        room("XML", []),
        room("Wire", ["CNghttp2", "CZlib"]),
        room("Proto", ["Wire"]),
        .executableTarget(name: "protoc-gen-gateway", dependencies: ["Wire"], swiftSettings: strict),
        room("RPC", ["Wire", "Proto", "Platform"]),
        room("Network", ["Wire", "RPC", "Platform", "CUV", "CMicrohttpd", "COpenSSL", "CLinux"]),
        room("Database", ["Platform", "CLinux", "CSQLite"]),
        room("ObjectStore", ["Database", "Network", "Platform", "XML", "CLZMA", "CLinux"]),
        room("Accounts", ["RPC", "Proto", "Database", "Platform", "CArgon2"]),
        room("Events", ["Accounts", "Transfer", "Network", "RPC", "Proto", "Database", "Platform"]),
        room("DeviceInit", ["Events", "Accounts", "RPC", "Proto", "Database", "Platform"]),
        room("Catalog", ["Accounts", "ObjectStore", "RPC", "Proto", "Database", "Platform"]),
        room("Uploads", ["Catalog", "Events", "Accounts", "ObjectStore", "RPC", "Proto", "Database", "Platform"]),
        room(
            "InternalStorage",
            ["Uploads", "Catalog", "Accounts", "ObjectStore", "RPC", "Proto", "Database", "Platform"]),
        room("Backup", ["Uploads", "Accounts", "ObjectStore", "RPC", "Proto", "Database", "Platform", "Wire"]),
        room("Console", ["Network", "Proto", "Platform", "Wire"], resources: [.embedInCode("Assets")]),
        room("Transfer", ["ObjectStore", "Network", "Platform", "XML", "CCurl"]),
        room(
            "Copies",
            ["Catalog", "Accounts", "Transfer", "ObjectStore", "RPC", "Proto", "Database", "Platform", "Wire"]),
        room("DeviceClient", ["Transfer", "ObjectStore", "Network", "RPC", "Proto", "Wire", "Platform"]),
        .executableTarget(
            name: "GatewayServer",
            dependencies: [
                "Accounts", "Backup", "CQRencode", "Catalog", "Console", "Copies", "Database", "DeviceClient",
                "DeviceInit", "Events", "InternalStorage", "Network", "ObjectStore", "Platform", "Proto", "RPC",
                "Transfer", "Uploads", "Wire",
            ],
            swiftSettings: strict),

        .target(name: "AllocationCounter", path: "Tests/AllocationCounter"),
        .target(name: "HTTPTestClient", path: "Tests/HTTPTestClient", swiftSettings: strict),
        tests("Platform"),
        tests("XML"),
        .target(
            name: "WireTesting", dependencies: ["Wire", "Proto"], path: "Tests/WireTesting", swiftSettings: strict),
        .target(
            name: "FuzzEntryPoints", dependencies: ["WireTesting", "XML"], path: "Tests/FuzzEntryPoints",
            swiftSettings: strict),
        .executableTarget(
            name: "interop-server", dependencies: ["Network", "RPC", "Wire"], path: "Tests/InteropServer",
            swiftSettings: strict),
        .executableTarget(
            name: "echo-server", dependencies: ["Network", "RPC", "Wire"], path: "Benchmarks/Echo/Server",
            swiftSettings: strict),
        tests("Wire", ["WireTesting"]),
        tests("Proto", ["FuzzEntryPoints", "Wire", "WireTesting", "protoc-gen-gateway"]),
        tests("RPC", ["Platform", "Proto", "Wire"]),
        tests("Network", ["HTTPTestClient", "Platform", "Proto", "RPC", "Wire"]),
        tests("Database", ["Platform"]),
        tests(
            "ObjectStore", ["HTTPTestClient", "Database", "Network", "Platform", "RPC", "XML"], exclude: ["Vectors"]),
        tests("Accounts"),
        tests("Events", ["Accounts", "Database", "Platform", "RPC", "Transfer"]),
        tests("DeviceInit"),
        tests("Catalog", ["Accounts", "Database", "ObjectStore", "Platform", "Proto", "RPC", "Wire"]),
        tests(
            "Copies",
            ["Accounts", "Catalog", "Database", "ObjectStore", "Platform", "Proto", "RPC", "Transfer", "Wire"]),
        tests(
            "Uploads",
            [
                "Accounts", "Catalog", "Database", "DeviceClient", "ObjectStore", "Platform", "Proto", "RPC",
                "Transfer", "Wire",
            ]),
        tests("InternalStorage", ["RPC"]),
        tests("Backup", ["Database", "ObjectStore", "Platform"]),
        tests("Transfer", ["HTTPTestClient", "Network", "ObjectStore", "Platform"]),
        tests("DeviceClient", ["Transfer", "ObjectStore", "Proto", "RPC", "Wire", "Platform"]),
        tests("Console", ["Network", "Platform", "Proto", "Wire"]),
        tests("GatewayServer", ["Network", "Platform", "Proto", "RPC", "Wire"]),
    ],
    swiftLanguageModes: [.v6]
)
