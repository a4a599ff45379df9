// swift-tools-version: 6.2
import PackageDescription

// The program that protobuf's conformance suite tests. It is a package of its own because its messages are generated from the
// suite's .proto files, which are not part of this repository: `make conformance` fetches them.
let package = Package(
    name: "Conformance",
    products: [.executable(name: "wire-conformance", targets: ["wire-conformance"])],
    dependencies: [.package(name: "data-gateway", path: "..")],
    targets: [
        .executableTarget(
            name: "wire-conformance",
            dependencies: [
                .product(name: "Wire", package: "data-gateway"), .product(name: "Proto", package: "data-gateway"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)])
    ],
    swiftLanguageModes: [.v6]
)
