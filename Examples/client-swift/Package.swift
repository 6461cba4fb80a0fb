// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "client-swift",
    dependencies: [.package(name: "sightline", path: "../..")],
    targets: [
        .executableTarget(
            name: "SendingClient",
            dependencies: [.product(name: "SightlineClient", package: "sightline")])
    ])
