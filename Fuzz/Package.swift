// swift-tools-version: 6.2
import PackageDescription

// libFuzzer's drivers, apart from the main package because they are built with the sanitizers of `scripts/fuzz` only.
let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: "data-gateway", path: "..")],
    targets: [
        .systemLibrary(name: "CLibFuzzer"),
        .target(
            name: "FuzzDriver",
            dependencies: ["CLibFuzzer", .product(name: "WireTesting", package: "data-gateway")]),
        .executableTarget(name: "fuzz-protobuf", dependencies: ["FuzzDriver"]),
        .executableTarget(name: "fuzz-json", dependencies: ["FuzzDriver"]),
        .executableTarget(name: "fuzz-web", dependencies: ["FuzzDriver"]),
    ],
    swiftLanguageModes: [.v6]
)
