// swift-tools-version: 6.2
import PackageDescription

/// A program that fuzzes one of the parsers.
func target(_ parser: String) -> Target {
    .executableTarget(
        name: "fuzz-\(parser)",
        dependencies: ["FuzzDriver", .product(name: "FuzzEntryPoints", package: "data-gateway")])
}

// libFuzzer's drivers, in a package of their own because they are only built with the sanitizers of `scripts/fuzz`.
let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: "data-gateway", path: "..")],
    targets: [
        .systemLibrary(name: "CLibFuzzer"),
        .target(name: "FuzzDriver", dependencies: ["CLibFuzzer"]),
        target("protobuf"), target("json"), target("web"), target("xml"), target("filter"), target("rest"),
        target("zip"), target("identity"), target("mcap"),
        target("picture"), target("form"), target("policy"), target("chunks"), target("signature"), target("request"),
        target("csv"), target("zone"),
    ],
    swiftLanguageModes: [.v6]
)
