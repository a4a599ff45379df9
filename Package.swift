// swift-tools-version: 6.2
import PackageDescription

/// Warnings are errors. Imports are internal unless they say otherwise, and a file uses only members of modules that it imports.
///
/// Debug builds, which the tests use, check both. In optimized builds, which compile a module as a whole, the compiler ascribes the
/// types of the C library, such as `stat`, to another of the modules that include its headers, so that no import suits both.
let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error, .when(configuration: .debug)),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility", .when(configuration: .debug)),
]

/// A module of the product; its folder is `Sources/NAME`, or `path` below `Sources` for modules in a group.
func module(
    _ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil, resources: [Resource] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(path ?? name)", resources: resources,
        swiftSettings: strict)
}

func tests(_ module: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .testTarget(
        name: "\(module)Tests", dependencies: [.byName(name: module), "TestSupport"] + dependencies, exclude: exclude,
        swiftSettings: strict)
}

/// A system library from Debian's -dev packages; `make deps` installs them all.
func system(_ name: String, pkgConfig: String?, packages: String...) -> Target {
    .systemLibrary(
        name: name, path: "Sources/System/\(name)", pkgConfig: pkgConfig, providers: [.apt(packages)])
}

let package = Package(
    name: "data-gateway",
    products: [
        .executable(name: "data-gateway", targets: ["GatewayServer"]),
        .executable(name: "data-gateway-device", targets: ["data-gateway-device"]),
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
        system("CPQ", pkgConfig: "libpq", packages: "libpq-dev"),
        system("CArgon2", pkgConfig: "libargon2", packages: "libargon2-dev"),
        system("CLZMA", pkgConfig: "liblzma", packages: "liblzma-dev"),
        system("CEpoll", pkgConfig: nil, packages: "libc6-dev"),
        system("CLinux", pkgConfig: nil, packages: "libc6-dev"),
        system("CZlib", pkgConfig: "zlib", packages: "zlib1g-dev"),
        system("CCurl", pkgConfig: "libcurl", packages: "libcurl4-openssl-dev"),
        system("CQRencode", pkgConfig: "libqrencode", packages: "libqrencode-dev"),

        module("Basics", ["CLinux"], path: "Platform/Basics"),
        // Optimized in debug builds, too, where it would be slower than the libraries; so is CFolding.
        .target(name: "CMD5", path: "Sources/Platform/CMD5", cSettings: [.unsafeFlags(["-O2"])]),
        module("Crypto", ["Basics", "CMD5", "COpenSSL"], path: "Platform/Crypto"),
        module("JSON", ["Basics"], path: "Platform/JSON"),
        module("Multipart", ["Basics"], path: "Platform/Multipart"),
        module("TimeZones", ["Basics"], path: "Platform/TimeZones"),
        module("XML", ["Basics"]),
        .target(
            name: "CFolding", path: "Sources/Platform/CFolding", cSettings: [.unsafeFlags(["-O2"])]),
        module("Checksums", ["CFolding", "CLZMA"], path: "Platform/Checksums"),
        module("Zip", ["Basics", "Checksums", "CZlib"]),
        module("Pictures", ["Basics", "Checksums"]),
        module("MCAP", ["Basics"]),
        module("Protobuf", ["Basics"], path: "Wire/Protobuf"),
        module("ProtobufJSON", ["Basics", "JSON", "Protobuf"], path: "Wire/ProtobufJSON"),
        module("HTTP2", ["Basics", "CNghttp2"], path: "Wire/HTTP2"),
        module("GRPCWire", ["Basics", "CZlib", "Protobuf"], path: "Wire/GRPCWire"),
        module("REST", ["Basics", "GRPCWire", "JSON", "Multipart", "Protobuf", "ProtobufJSON"], path: "Wire/REST"),
        module("HTTPTypes", ["Basics", "Crypto"], path: "Wire/HTTPTypes"),
        module("Wire", ["GRPCWire", "HTTP2", "JSON", "Protobuf", "ProtobufJSON", "REST"], path: "Wire/Wire"),
        module("CommonProto", ["GRPCWire", "Protobuf"], path: "Proto/CommonProto"),
        module("GatewayProto", ["CommonProto", "GRPCWire", "Protobuf"], path: "Proto/GatewayProto"),
        module("Proto", ["CommonProto", "GatewayProto", "Protobuf"], path: "Proto/Proto"),
        .executableTarget(name: "protoc-gen-gateway", dependencies: ["Basics", "Protobuf"], swiftSettings: strict),
        module("Sockets", ["Basics", "COpenSSL", "HTTPTypes"], path: "Network/Sockets"),
        module("Settings", ["Basics", "Crypto", "HTTPTypes", "JSON"], path: "API/Settings"),
        module(
            "RPC",
            [
                "Basics", "CommonProto", "Crypto", "GRPCWire", "HTTP2", "HTTPTypes", "Protobuf", "ProtobufJSON", "REST",
                "Settings",
            ]),
        module("GatewayFormats", ["Basics", "HTTPTypes", "RPC"], path: "API/GatewayFormats"),
        module(
            "Capability", ["Basics", "Database", "HTTPTypes", "Protobuf", "RPC", "Settings"], path: "API/Capability"),

        module(
            "EventLoops", ["Basics", "COpenSSL", "CUV", "HTTPTypes", "RPC", "Sockets", "Wire"],
            path: "Network/EventLoops"),
        module(
            "HTTPServer", ["Basics", "CMicrohttpd", "COpenSSL", "Crypto", "HTTPTypes", "Settings", "Sockets"],
            path: "Network/HTTPServer"),
        module(
            "ThreadCalls", ["Basics", "CLinux", "EventLoops", "HTTPTypes", "RPC", "Wire"],
            path: "Network/ThreadCalls"),
        module("HTTPClient", ["Basics", "CCurl", "CEpoll", "CLinux", "HTTPTypes"], path: "Network/HTTPClient"),
        module("Database", ["Basics", "CLinux", "CPQ", "CSQLite"], path: "Storage/Database"),
        module(
            "StoreProtocol", ["Basics", "Crypto", "HTTPTypes", "JSON", "Multipart", "XML"],
            path: "Storage/StoreProtocol"),
        module(
            "GatewayAPI", ["Basics", "Crypto", "Database", "GatewayFormats", "RPC", "TimeZones"],
            path: "API/GatewayAPI"),
        module(
            "ObjectStore", ["Basics", "Checksums", "Crypto", "Database", "Settings", "StoreProtocol"],
            path: "Storage/ObjectStore"),
        module(
            "DirectoryEngine", ["Basics", "CLinux", "Checksums", "Crypto", "Database", "ObjectStore", "Settings"],
            path: "Storage/DirectoryEngine"),
        module(
            "StoreServer",
            ["Basics", "Crypto", "HTTPServer", "HTTPTypes", "ObjectStore", "Settings", "StoreProtocol", "XML"],
            path: "Storage/StoreServer"),
        module(
            "StoreClient", ["Basics", "Crypto", "HTTPClient", "HTTPTypes", "JSON", "Settings", "StoreProtocol", "XML"],
            path: "Storage/StoreClient"),
        module(
            "S3Engine",
            [
                "Basics", "Capability", "Checksums", "Crypto", "Database", "HTTPClient", "JSON", "ObjectStore", "RPC",
                "Settings", "StoreClient", "StoreProtocol",
            ], path: "Storage/S3Engine"),
        module(
            "EngineCopy", ["Basics", "Checksums", "Database", "DirectoryEngine", "ObjectStore", "S3Engine"],
            path: "Storage/EngineCopy"),
        module(
            "Accounts",
            [
                "Basics", "CArgon2", "Capability", "Checksums", "Crypto", "Database", "GatewayAPI", "HTTPTypes", "JSON",
                "Proto", "Protobuf", "RPC", "Settings", "TimeZones",
            ]),
        module("IdentityTokens", ["Basics", "Crypto", "JSON"]),
        module(
            "Identity",
            [
                "Accounts", "Basics", "Capability", "Crypto", "Database", "GatewayAPI", "HTTPClient", "HTTPTypes",
                "IdentityTokens", "JSON", "Proto", "RPC", "Settings",
            ]),
        module(
            "Webhooks",
            [
                "Accounts", "Basics", "Capability", "Crypto", "Database", "GatewayAPI", "HTTPClient", "HTTPTypes",
                "Proto", "RPC", "Settings",
            ]),
        module(
            "DeviceInit",
            [
                "Accounts", "Basics", "Capability", "Crypto", "Database", "GatewayAPI", "HTTPTypes", "Proto", "RPC",
                "Settings", "Webhooks",
            ]),
        module("ObjectFilters", ["Basics", "TimeZones"]),
        module(
            "Catalog",
            [
                "Accounts", "Basics", "Capability", "Crypto", "Database", "GatewayAPI", "HTTPTypes", "MCAP",
                "ObjectFilters", "ObjectStore", "Proto", "RPC", "Settings", "StoreProtocol", "TimeZones", "Webhooks",
                "Wire", "Zip",
            ]),
        module(
            "Uploads",
            [
                "Accounts", "Basics", "Capability", "Catalog", "Crypto", "Database", "GatewayAPI", "ObjectStore",
                "Proto", "RPC", "Settings", "StoreProtocol", "Webhooks",
            ]),
        module(
            "Backup",
            [
                "Accounts", "Basics", "Capability", "Checksums", "Crypto", "Database", "DirectoryEngine", "GatewayAPI",
                "HTTPClient", "ObjectStore", "Proto", "RPC", "Settings", "StoreClient", "StoreProtocol", "Webhooks",
                "Wire",
            ]),
        module(
            "Doctor",
            ["Accounts", "Backup", "Basics", "Catalog", "Database", "DirectoryEngine", "ObjectStore", "Uploads"]),
        module(
            "Console",
            [
                "Accounts", "Basics", "Capability", "Crypto", "Database", "GatewayAPI", "HTTPTypes", "Proto", "RPC",
                "Settings", "StoreProtocol", "ThreadCalls", "Wire", "XML",
            ],
            resources: [.embedInCode("Assets")]),
        module(
            "CopyJobs",
            [
                "Accounts", "Basics", "Capability", "Catalog", "Crypto", "Database", "GatewayAPI", "HTTPClient",
                "ObjectStore", "Proto", "RPC", "Settings", "StoreClient", "StoreProtocol",
            ]),
        module(
            "DeviceClient",
            [
                "Basics", "CLinux", "Crypto", "EventLoops", "GatewayFormats", "HTTPClient", "HTTPTypes", "Proto", "RPC",
                "Sockets", "StoreClient", "StoreProtocol", "Wire",
            ]),
        module("DeviceAgent", ["Basics", "CLinux", "DeviceClient", "HTTPClient", "JSON"]),
        module(
            "CommandLineInterface", ["Basics", "CQRencode", "HTTPTypes", "JSON", "Proto", "Wire"]),
        module(
            "DeviceCommands",
            [
                "Basics", "CLinux", "CommandLineInterface", "DeviceAgent", "DeviceClient", "GatewayFormats",
                "HTTPClient", "HTTPTypes", "JSON", "RPC", "Sockets", "StoreClient", "Wire",
            ]),
        .executableTarget(
            name: "data-gateway-device", dependencies: ["CommandLineInterface", "DeviceCommands"],
            swiftSettings: strict),
        module(
            "Observability",
            ["Basics", "Capability", "Crypto", "Database", "HTTPServer", "ObjectStore", "RPC", "Settings", "Wire"],
            path: "GatewayServer/Observability"),
        module(
            "AppSupport",
            [
                "Accounts", "Capability", "Crypto", "Database", "GatewayAPI", "Identity", "Protobuf", "RPC",
                "Settings", "Webhooks",
            ], path: "API/AppSupport"),
        // The apps: this part can be removed with Sources/Apps, protos/apps and the lines that name an app.
        module("AppProto", ["CommonProto", "GRPCWire", "Protobuf"], path: "Apps/AppProto"),
        module(
            "Members",
            ["Accounts", "AppSupport", "Basics", "Capability", "Crypto", "Database", "GatewayAPI", "HTTPTypes", "RPC"],
            path: "Apps/Members"),
        module(
            "ShareCodes",
            [
                "Accounts", "AppProto", "AppSupport", "Basics", "Capability", "Crypto", "Database", "GatewayAPI",
                "HTTPTypes", "Protobuf", "RPC", "Settings",
            ], path: "Apps/ShareCodes"),
        module(
            "SignIn",
            [
                "Accounts", "AppProto", "AppSupport", "Basics", "Capability", "Crypto", "Database", "GatewayAPI",
                "HTTPTypes", "Identity", "IdentityTokens", "JSON", "Members", "Protobuf", "RPC",
            ], path: "Apps/SignIn"),
        module(
            "Companions",
            [
                "Accounts", "AppProto", "AppSupport", "Basics", "Capability", "CommonProto", "Crypto", "Database",
                "GRPCWire", "GatewayAPI", "HTTPTypes", "Identity", "Members", "Pictures", "Protobuf", "ProtobufJSON",
                "RPC", "Webhooks",
            ], path: "Apps/Companions", resources: [.embedInCode("Assets")]),
        module(
            "LibraryArchive",
            [
                "Accounts", "AppProto", "AppSupport", "Basics", "Capability", "CommonProto", "Crypto", "Database",
                "GRPCWire", "GatewayAPI", "HTTPTypes", "Identity", "JSON", "Members", "Protobuf", "ProtobufJSON", "RPC",
                "Zip",
            ], path: "Apps/LibraryArchive", resources: [.embedInCode("Assets")]),
        // The end of the apps.
        module(
            "Configuration",
            [
                "Basics", "Capability", "HTTPServer", "HTTPTypes", "Observability", "RPC", "Settings", "Sockets",
                "StoreProtocol",
            ], path: "GatewayServer/Configuration"),
        module(
            "Serve",
            [
                "Accounts", "AppSupport", "Backup", "Basics", "Capability", "Catalog", "Configuration", "Console",
                "CopyJobs", "Crypto", "Database", "DeviceInit", "DirectoryEngine", "EngineCopy", "EventLoops",
                "GatewayAPI",
                "GatewayFormats", "HTTPServer", "HTTPTypes", "Identity", "JSON", "ObjectStore", "Observability",
                "Proto",
                "RPC", "S3Engine", "Settings", "Sockets", "StoreClient", "StoreProtocol", "StoreServer", "ThreadCalls",
                "Uploads", "Webhooks", "Wire",
            ], path: "GatewayServer/Serve", resources: [.embedInCode("Schema")]),
        module(
            "Commands",
            [
                "Accounts", "AppSupport", "Backup", "Basics", "Capability", "CommandLineInterface",
                "Companions",
                "Configuration", "Crypto", "Database",
                "DeviceClient", "DeviceCommands", "DeviceInit", "Doctor", "EventLoops", "GatewayAPI", "GatewayFormats",
                "HTTPClient", "HTTPServer", "HTTPTypes", "JSON",
                "LibraryArchive",
                "Observability", "Proto", "RPC", "Serve", "Settings",
                "ShareCodes", "SignIn",
                "Sockets", "StoreClient", "TimeZones", "Uploads", "Wire",
            ], path: "GatewayServer/Commands"),
        .executableTarget(
            name: "GatewayServer", dependencies: ["CommandLineInterface", "Commands"],
            path: "Sources/GatewayServer/GatewayServer", swiftSettings: strict),

        .target(name: "Counters", path: "Tests/Counters"),
        .target(
            name: "HTTPTestClient", dependencies: ["Basics", "TestSupport"], path: "Tests/HTTPTestClient",
            swiftSettings: strict),
        .target(
            name: "StoreTesting",
            dependencies: [
                "Basics", "Crypto", "Database", "DatabaseTesting", "DirectoryEngine", "EngineCopy", "HTTPClient",
                "HTTPServer",
                "HTTPTypes", "ObjectStore", "S3Engine", "Sockets",
                "StoreClient", "StoreProtocol", "StoreServer", "TestSupport",
            ],
            path: "Tests/StoreTesting", swiftSettings: strict),
        .target(name: "TestSupport", dependencies: ["Basics"], path: "Tests/TestSupport", swiftSettings: strict),
        .target(
            name: "DatabaseTesting", dependencies: ["Basics", "CPQ", "Database"], path: "Tests/DatabaseTesting",
            swiftSettings: strict),
        .target(
            name: "GatewayTesting",
            dependencies: [
                "Accounts", "Basics", "Capability", "Crypto", "Database", "DatabaseTesting", "HTTPTypes", "Proto",
                "RPC",
                "TestSupport", "Wire",
            ],
            path: "Tests/GatewayTesting", swiftSettings: strict),
        tests("Basics"),
        tests("Crypto", ["Basics", "CMD5"]),
        tests("JSON"),
        tests("Multipart"),
        tests("TimeZones", ["Basics"]),
        tests("XML"),
        tests("Checksums", ["CFolding", "StoreProtocol"]),
        tests("Zip", ["Basics", "Checksums"]),
        .target(name: "FileTesting", path: "Tests/FileTesting", swiftSettings: strict),
        tests("Pictures", ["FileTesting"]),
        tests("MCAP", ["Basics", "FileTesting"]),
        .target(
            name: "WireTesting", dependencies: ["Basics", "CommonProto", "Proto", "REST", "Wire"],
            path: "Tests/WireTesting",
            swiftSettings: strict),
        .target(
            name: "FuzzEntryPoints",
            dependencies: [
                "Basics", "CommandLineInterface", "Crypto", "FileTesting", "HTTPServer", "HTTPTypes", "IdentityTokens",
                "JSON", "MCAP", "Multipart", "ObjectFilters", "Pictures", "REST", "StoreProtocol", "TimeZones",
                "WireTesting", "XML", "Zip",
            ],
            path: "Tests/FuzzEntryPoints",
            swiftSettings: strict),
        .executableTarget(
            name: "interop-server",
            dependencies: ["EventLoops", "HTTPServer", "HTTPTypes", "RPC", "Sockets", "ThreadCalls", "Wire"],
            path: "Tests/InteropServer",
            swiftSettings: strict),
        .executableTarget(
            name: "engine-transfer",
            dependencies: ["Basics", "Crypto", "HTTPClient", "S3Engine", "StoreClient", "StoreProtocol"],
            path: "Tests/EngineTransfer", swiftSettings: strict),
        .executableTarget(
            name: "showcase",
            dependencies: [
                "Accounts", "Backup", "Basics", "Capability", "Catalog", "Checksums", "Crypto", "Database",
                "DeviceInit",
                "DirectoryEngine", "EventLoops", "FileTesting", "GatewayAPI", "GatewayFormats", "ObjectStore", "Proto",
                "RPC", "Serve", "StoreProtocol", "TestSupport", "ThreadCalls", "Uploads", "Webhooks", "Wire",
            ],
            path: "Tests/Showcase", swiftSettings: strict),
        .executableTarget(
            name: "echo-server", dependencies: ["EventLoops", "HTTPTypes", "RPC", "Sockets", "Wire"],
            path: "Benchmarks/Echo/Server",
            swiftSettings: strict),
        .executableTarget(
            name: "identity-benchmark", dependencies: ["Basics", "COpenSSL", "Crypto", "IdentityTokens"],
            path: "Benchmarks/Identity", swiftSettings: strict),
        tests("Wire", ["Basics", "GRPCWire", "HTTP2", "Protobuf", "ProtobufJSON", "REST", "WireTesting"]),
        tests("Proto", ["FuzzEntryPoints", "Wire", "WireTesting"]),
        tests("RPC", ["Basics", "GatewayFormats", "HTTPTypes", "Proto", "Wire", "WireTesting"]),
        tests("GatewayFormats", ["RPC", "Wire"]),
        .testTarget(
            name: "NetworkTests",
            dependencies: [
                "Basics", "Database", "EventLoops", "GatewayFormats", "GatewayTesting", "HTTPClient", "HTTPServer",
                "HTTPTestClient", "HTTPTypes", "Proto", "RPC", "Sockets", "TestSupport", "ThreadCalls", "Wire",
                "WireTesting",
            ],
            swiftSettings: strict),
        tests("Database", ["Basics", "CSQLite", "DatabaseTesting", "GatewayTesting"]),
        tests("StoreProtocol", ["Basics", "Crypto", "HTTPTypes"], exclude: ["Vectors"]),
        tests(
            "ObjectStore",
            [
                "Basics", "Crypto", "Database", "DatabaseTesting", "DirectoryEngine", "StoreProtocol", "StoreTesting",
            ]),
        tests(
            "StoreServer",
            [
                "Basics", "Checksums", "Crypto", "Database", "DatabaseTesting", "DirectoryEngine", "EngineCopy",
                "HTTPClient", "HTTPServer", "HTTPTestClient", "HTTPTypes", "ObjectStore", "S3Engine", "Sockets",
                "StoreClient", "StoreProtocol",
                "StoreTesting",
            ]),
        tests(
            "Accounts",
            [
                "Basics", "Capability", "Crypto", "Database", "DatabaseTesting", "GatewayAPI", "GatewayTesting",
                "HTTPTypes", "Proto", "RPC", "Wire",
            ]),
        tests(
            "Identity",
            [
                "Accounts", "Basics", "Crypto", "Database", "GatewayAPI", "GatewayTesting", "HTTPTypes",
                "IdentityTokens", "Proto", "RPC", "Wire",
            ]),
        tests(
            "Webhooks",
            [
                "Accounts", "Basics", "Crypto", "Database", "GatewayTesting", "HTTPClient", "HTTPTestClient", "Proto",
                "RPC",
            ]),
        tests(
            "DeviceInit",
            [
                "Accounts", "Basics", "Crypto", "Database", "GatewayAPI", "GatewayTesting", "HTTPTypes", "Proto", "RPC",
                "Webhooks", "Wire",
            ]),
        tests(
            "Catalog",
            [
                "Accounts", "Basics", "Checksums", "Crypto", "Database", "DatabaseTesting", "DirectoryEngine",
                "FileTesting", "GatewayAPI", "GatewayTesting", "ObjectFilters", "ObjectStore", "Proto", "RPC",
                "StoreProtocol", "StoreTesting", "TimeZones", "Webhooks", "Wire",
            ]),
        tests("ObjectFilters", ["Basics", "TimeZones"]),
        tests(
            "CopyJobs",
            [
                "Accounts", "Basics", "Catalog", "Crypto", "Database", "DatabaseTesting", "GatewayAPI",
                "GatewayTesting", "HTTPClient", "ObjectStore", "Proto", "RPC", "StoreClient", "StoreProtocol",
                "StoreTesting",
            ]),
        tests(
            "Uploads",
            [
                "Accounts", "Basics", "Capability", "Catalog", "Crypto", "Database", "DatabaseTesting", "DeviceClient",
                "DirectoryEngine", "GatewayAPI", "GatewayTesting", "HTTPTypes", "ObjectStore", "Proto", "RPC",
                "StoreClient", "StoreProtocol", "StoreServer", "StoreTesting", "Webhooks", "Wire",
            ]),
        tests(
            "Backup",
            [
                "Basics", "Crypto", "Database", "DatabaseTesting", "GatewayTesting", "ObjectStore", "Proto", "RPC",
                "StoreProtocol",
                "StoreClient",
            ]),
        tests("StoreClient", ["Basics", "Crypto", "HTTPClient", "HTTPTestClient", "HTTPTypes", "StoreProtocol"]),
        tests(
            "S3Engine",
            [
                "Basics", "Crypto", "Database", "HTTPClient", "HTTPTestClient", "HTTPTypes", "ObjectStore", "Settings",
                "StoreClient", "StoreProtocol", "StoreServer", "StoreTesting",
            ]),
        tests(
            "DeviceClient",
            ["Basics", "CLinux", "GatewayFormats", "HTTPClient", "HTTPTypes", "Proto", "RPC", "StoreClient", "Wire"]),
        tests("DeviceAgent", ["Basics", "DeviceClient", "HTTPClient", "HTTPTypes", "Proto", "RPC", "Wire"]),
        tests(
            "Console",
            [
                "Accounts", "Basics", "Crypto", "EventLoops", "GatewayTesting", "HTTPTypes", "Proto", "RPC",
                "ThreadCalls",
                "Wire",
            ]),
        tests("CommandLineInterface", ["HTTPTypes", "RPC"]),
        tests("Observability", ["Basics", "Catalog", "CopyJobs", "Crypto", "HTTPTypes", "RPC", "Webhooks", "Wire"]),
        tests(
            "Configuration",
            [
                "Accounts", "AppSupport", "Capability", "Catalog", "Commands", "Console", "CopyJobs", "Crypto",
                "Database", "DeviceInit", "DirectoryEngine",
                "HTTPTypes", "Identity", "ObjectStore", "RPC", "Serve", "Settings", "StoreProtocol", "Uploads",
                "Webhooks",
            ]),
        // The tests of apps.
        // Code of an app as its documentation has it: in the language mode of its time, and with its warnings.
        .executableTarget(
            name: "share-codes-client", path: "Tests/ShareCodesClient", swiftSettings: [.swiftLanguageMode(.v5)]),
        tests(
            "ShareCodes",
            [
                "AppProto", "Basics", "Crypto", "Database", "GatewayAPI", "GatewayTesting", "HTTPTypes",
                "Capability", "RPC", "Wire",
            ]),
        tests(
            "Members",
            [
                "Accounts", "AppSupport", "Basics", "Crypto", "Database", "GatewayTesting", "HTTPTypes", "Identity",
                "RPC", "Wire",
            ]),
        tests(
            "SignIn",
            [
                "Accounts", "AppProto", "AppSupport", "Basics", "Crypto", "Database", "GatewayTesting", "Identity",
                "Protobuf", "RPC", "Settings",
            ]),
        .executableTarget(name: "sign-in-client", path: "Tests/SignInClient", swiftSettings: strict),
        tests(
            "Companions",
            [
                "AppProto", "AppSupport", "Basics", "Crypto", "Database", "GatewayTesting", "HTTPTypes", "Identity",
                "Members", "RPC", "Wire",
            ]),
        // Stand-ins for the libraries that an app's documentation imports, and its code with them.
        .target(name: "Alamofire", path: "Tests/CompanionsClient/Alamofire", swiftSettings: [.swiftLanguageMode(.v5)]),
        .target(name: "SwiftyJSON", path: "Tests/CompanionsClient/SwiftyJSON", swiftSettings: strict),
        .target(name: "SSZipArchive", path: "Tests/CompanionsClient/SSZipArchive", swiftSettings: strict),
        .executableTarget(
            name: "companions-client", dependencies: ["Alamofire", "SwiftyJSON", "SSZipArchive"],
            path: "Tests/CompanionsClient/Program", swiftSettings: [.swiftLanguageMode(.v5)]),
        tests(
            "LibraryArchive",
            [
                "AppProto", "AppSupport", "Basics", "Database", "DatabaseTesting", "GatewayTesting", "Identity",
                "Members",
            ]),
        // The end of the tests of apps.
        tests(
            "Serve",
            [
                "Accounts", "AppSupport", "Backup", "Basics", "Capability", "Commands", "Configuration", "Database",
                "DatabaseTesting", "GatewayAPI", "GatewayTesting", "Observability", "Proto", "RPC", "Settings", "Wire",
            ]),
        tests(
            "Commands",
            [
                "Basics", "Capability", "CommandLineInterface", "Configuration", "DeviceCommands", "EventLoops",
                "GatewayAPI", "HTTPTypes", "Observability", "Proto", "RPC", "Wire",
            ]),
    ],
    swiftLanguageModes: [.v6]
)
