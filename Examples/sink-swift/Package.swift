// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "sink-swift",
    dependencies: [.package(name: "sightline", path: "../..")],
    targets: [
        .executableTarget(
            name: "PrintingServer",
            dependencies: [.product(name: "SightlineSinks", package: "sightline")])
    ])
