// swift-tools-version: 6.2
import PackageDescription

// What protobuf's conformance suite talks to. It is a package of its own because the messages it works on are generated
// from the suite's .proto files, which are not part of this repository: `make conformance` fetches them.
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
