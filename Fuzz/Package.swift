// swift-tools-version: 6.2
import PackageDescription

/// The program that fuzzes one of the parsers.
func target(_ parser: String) -> Target {
    .executableTarget(
        name: "fuzz-\(parser)",
        dependencies: ["FuzzDriver", .product(name: "FuzzEntryPoints", package: "data-gateway")])
}

// libFuzzer's drivers, apart from the main package because they are built with the sanitizers of `scripts/fuzz` only.
let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: "data-gateway", path: "..")],
    targets: [
        .systemLibrary(name: "CLibFuzzer"),
        .target(name: "FuzzDriver", dependencies: ["CLibFuzzer"]),
        target("protobuf"), target("json"), target("web"), target("xml"), target("filter"), target("rest"),
        target("zip"),
    ],
    swiftLanguageModes: [.v6]
)
