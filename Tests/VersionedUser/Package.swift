// swift-tools-version: 6.2
import PackageDescription

// Another package that uses the products as a versioned dependency; `test_products.py` copies it beside a tagged repository.
let package = Package(
    name: "VersionedUser",
    dependencies: [.package(url: "data-gateway", from: "1.0.0")],
    targets: [
        .executableTarget(
            name: "versioned-user",
            dependencies: [
                .product(name: "Proto", package: "data-gateway"), .product(name: "Wire", package: "data-gateway"),
            ])
    ]
)
