// swift-tools-version: 6.2
import PackageDescription

// Compares Wire with apple/swift-protobuf on the same bytes, in one run. It is a package of its own, so that the gateway depends on
// no package. `PeerProto` is the output of protoc-gen-swift 1.39.0 for protos/data_gateway.proto.
let package = Package(
    name: "CodecBenchmark",
    dependencies: [
        .package(name: "data-gateway", path: "../.."),
        .package(url: "https://github.com/apple/swift-protobuf", exact: "1.39.0"),
    ],
    targets: [
        .target(name: "PeerProto", dependencies: [.product(name: "SwiftProtobuf", package: "swift-protobuf")]),
        .target(name: "CAllocations"),
        .executableTarget(
            name: "codec-benchmark",
            dependencies: [
                "CAllocations", "PeerProto", .product(name: "Proto", package: "data-gateway"),
                .product(name: "Wire", package: "data-gateway"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
