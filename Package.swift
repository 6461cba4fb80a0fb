// swift-tools-version: 6.2
import PackageDescription

let products: [Product] = [
    .executable(name: "sightline", targets: ["sightline"])
]

let dependencies: [Package.Dependency] = [
    .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
    .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
    .package(url: "https://github.com/grpc/grpc-swift-protobuf", from: "2.4.1"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-service-context", from: "1.5.1"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
]

/// The strict settings of every hand-written target. A misspelt feature is silently ignored by the
/// compiler, so each target holds a `Settings.swift` that fails to build when one of them is off.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// A client or a server of gRPC.
let grpc: [Target.Dependency] = [
    .product(name: "GRPCCore", package: "grpc-swift-2"),
    .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
    .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
    .product(name: "SwiftProtobuf", package: "swift-protobuf"),
]

/// Files of SQLite.
let sqlite: [Target.Dependency] = [
    .product(name: "GRDB", package: "GRDB.swift"),
    .product(name: "GRDBSQLite", package: "GRDB.swift"),
]

let targets: [Target] = [
    .target(
        name: "SightlineProtos",
        dependencies: [
            .product(name: "GRPCCore", package: "grpc-swift-2"),
            .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
            .product(name: "SwiftProtobuf", package: "swift-protobuf"),
        ]),
    .systemLibrary(
        name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CMalloc"),
    .target(name: "CInflate", linkerSettings: [.linkedLibrary("z")]),
    .target(name: "TrackingCore", dependencies: ["CLibcrypto"], swiftSettings: strict),
    .target(name: "CCRC32C"),
    .target(
        name: "TrackingJournal",
        dependencies: [
            "CCRC32C", "TrackingCore",
            .product(name: "DequeModule", package: "swift-collections"),
        ] + sqlite,
        swiftSettings: strict),
    .systemLibrary(name: "CNats", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
    .target(
        name: "TrackingSinks",
        dependencies: [
            "SightlineProtos", "TrackingCore", "TrackingJournal",
            .target(name: "CNats", condition: .when(traits: ["NATS"])),
            .product(name: "CoreMetrics", package: "swift-metrics"),
            .product(name: "Instrumentation", package: "swift-distributed-tracing"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "ServiceContextModule", package: "swift-service-context"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            .product(name: "Tracing", package: "swift-distributed-tracing"),
        ] + sqlite,
        swiftSettings: strict),
    .target(
        name: "TrackingClient",
        dependencies: [
            "SightlineProtos", "TrackingCore",
        ] + grpc,
        swiftSettings: strict),
    .target(
        name: "Telemetry",
        dependencies: [
            "SightlineProtos", "TrackingCore",
            .product(name: "CoreMetrics", package: "swift-metrics"),
            .product(name: "Instrumentation", package: "swift-distributed-tracing"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "ServiceContextModule", package: "swift-service-context"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            .product(name: "Tracing", package: "swift-distributed-tracing"),
        ] + grpc,
        swiftSettings: strict),
    .target(
        name: "Credentials",
        dependencies: [
            "TrackingCore",
            .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "CryptoExtras", package: "swift-crypto"),
            .product(name: "GRPCCore", package: "grpc-swift-2"),
            .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
            .product(name: "JWTKit", package: "jwt-kit"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "NIOCertificateReloading", package: "swift-nio-extras"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            .product(name: "SwiftASN1", package: "swift-asn1"),
            .product(name: "X509", package: "swift-certificates"),
            .product(name: "Yams", package: "Yams"),
        ],
        swiftSettings: strict),
    .target(
        name: "HTTP2Edge",
        dependencies: [
            "CInflate",
            .product(name: "GRPCCore", package: "grpc-swift-2"),
            .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOHPACK", package: "swift-nio-http2"),
            .product(name: "NIOHTTP2", package: "swift-nio-http2"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
        ],
        swiftSettings: strict),
    .target(
        name: "TrackingReport",
        dependencies: [
            "TrackingClient", "TrackingCore",
        ] + sqlite,
        swiftSettings: strict),
    .target(
        name: "AdminServer",
        dependencies: [
            "Telemetry", "TrackingCore", "TrackingSinks",
            .product(name: "DequeModule", package: "swift-collections"),
            .product(name: "HTTPTypes", package: "swift-http-types"),
            .product(name: "Hummingbird", package: "hummingbird"),
            .product(name: "HummingbirdCore", package: "hummingbird"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        ],
        resources: [
            .embedInCode("Page/page.html"), .embedInCode("Page/page.css"),
            .embedInCode("Page/plots.js"), .embedInCode("Page/page.js"),
        ],
        swiftSettings: strict),
    .target(
        name: "ServerConfiguration",
        dependencies: [
            "AdminServer", "Credentials", "HTTP2Edge", "Telemetry", "TrackingCore",
            "TrackingJournal", "TrackingSinks",
            .product(name: "Configuration", package: "swift-configuration"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            .product(name: "Yams", package: "Yams"),
        ],
        swiftSettings: strict),
    .target(
        name: "TrackingServer",
        dependencies: [
            "AdminServer", "Credentials", "HTTP2Edge", "ServerConfiguration", "SightlineProtos",
            "Telemetry", "TrackingCore", "TrackingJournal", "TrackingSinks",
            .product(name: "CoreMetrics", package: "swift-metrics"),
            .product(name: "DequeModule", package: "swift-collections"),
            .product(name: "Instrumentation", package: "swift-distributed-tracing"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOHPACK", package: "swift-nio-http2"),
            .product(name: "ServiceContextModule", package: "swift-service-context"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            .product(name: "Tracing", package: "swift-distributed-tracing"),
            .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            .product(name: "X509", package: "swift-certificates"),
        ] + grpc,
        swiftSettings: strict),
    .executableTarget(
        name: "sightline",
        dependencies: [
            "AdminServer", "CMalloc", "Credentials", "HTTP2Edge", "ServerConfiguration",
            "SightlineProtos", "Telemetry", "TrackingClient", "TrackingCore", "TrackingJournal",
            "TrackingReport", "TrackingServer", "TrackingSinks",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
            .product(name: "AsyncHTTPClient", package: "async-http-client"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "GRDB", package: "GRDB.swift"),
            .product(name: "GRPCCore", package: "grpc-swift-2"),
            .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
            .product(name: "Histogram", package: "hdrhistogram-swift"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOHTTP1", package: "swift-nio"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            .product(name: "SwiftASN1", package: "swift-asn1"),
            .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            .product(name: "X509", package: "swift-certificates"),
        ],
        swiftSettings: strict),
    // In no product: built where it is named, `swift build --product microbench`.
    .executableTarget(
        name: "microbench",
        dependencies: ["TrackingCore", "TrackingJournal", "TrackingSinks"],
        path: "Benchmarks/micro",
        exclude: ["run", "baseline.json"],
        swiftSettings: strict),
    // In no product either: `make simulate`.
    .executableTarget(
        name: "simulate",
        dependencies: [
            "TrackingCore", "TrackingJournal", "TrackingSinks",
            .product(name: "CoreMetrics", package: "swift-metrics"),
            .product(name: "Logging", package: "swift-log"),
        ] + sqlite,
        path: "Tests/Simulation",
        swiftSettings: strict),
    // In no product: `swift build --product wholestack`, or Scripts/fuzz with libFuzzer.
    .executableTarget(
        name: "wholestack",
        dependencies: [
            "HTTP2Edge", "ServerConfiguration", "SightlineProtos", "TrackingCore",
            "TrackingJournal", "TrackingServer",
            .product(name: "GRPCCore", package: "grpc-swift-2"),
            .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOEmbedded", package: "swift-nio"),
            .product(name: "SwiftProtobuf", package: "swift-protobuf"),
        ],
        path: "Tests/Fuzz/Stack",
        swiftSettings: strict),
    .testTarget(
        name: "TrackingCoreTests",
        dependencies: [
            "SightlineProtos", "TrackingCore",
            .product(name: "SwiftProtobuf", package: "swift-protobuf"),
        ],
        swiftSettings: strict),
    .testTarget(
        name: "TrackingJournalTests",
        dependencies: [
            "CCRC32C", "TrackingCore", "TrackingJournal",
            .product(name: "GRDB", package: "GRDB.swift"),
        ],
        swiftSettings: strict),
    .testTarget(
        name: "TrackingSinksTests",
        dependencies: [
            "SightlineProtos", "Telemetry", "TrackingCore", "TrackingJournal", "TrackingSinks",
            .target(name: "CNats", condition: .when(traits: ["NATS"])),
            .product(name: "CoreMetrics", package: "swift-metrics"),
            .product(name: "GRDB", package: "GRDB.swift"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "MetricsTestKit", package: "swift-metrics"),
            .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            .product(name: "Tracing", package: "swift-distributed-tracing"),
        ],
        swiftSettings: strict),
    .testTarget(
        name: "TrackingClientTests",
        dependencies: [
            "SightlineProtos", "TrackingClient", "TrackingCore",
        ] + grpc,
        swiftSettings: strict),
    .testTarget(
        name: "TelemetryTests",
        dependencies: [
            "SightlineProtos", "Telemetry", "TrackingCore",
            .product(name: "CoreMetrics", package: "swift-metrics"),
            .product(name: "Instrumentation", package: "swift-distributed-tracing"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "ServiceContextModule", package: "swift-service-context"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            .product(name: "Tracing", package: "swift-distributed-tracing"),
        ] + grpc,
        swiftSettings: strict),
    .testTarget(
        name: "TrackingReportTests",
        dependencies: [
            "SightlineProtos", "TrackingCore", "TrackingReport", "TrackingSinks",
            .product(name: "GRDB", package: "GRDB.swift"),
            .product(name: "SwiftProtobuf", package: "swift-protobuf"),
        ],
        swiftSettings: strict),
    .testTarget(
        name: "TrackingServerTests",
        dependencies: [
            "AdminServer", "Credentials", "HTTP2Edge", "ServerConfiguration", "SightlineProtos",
            "Telemetry", "TrackingClient", "TrackingCore", "TrackingJournal", "TrackingServer",
            "TrackingSinks",
            .product(name: "Configuration", package: "swift-configuration"),
            .product(name: "Crypto", package: "swift-crypto"),
            .product(name: "HTTPTypes", package: "swift-http-types"),
            .product(name: "Hummingbird", package: "hummingbird"),
            .product(name: "HummingbirdTesting", package: "hummingbird"),
            .product(name: "JWTKit", package: "jwt-kit"),
            .product(name: "CoreMetrics", package: "swift-metrics"),
            .product(name: "NIOCore", package: "swift-nio"),
            .product(name: "NIOEmbedded", package: "swift-nio"),
            .product(name: "NIOHPACK", package: "swift-nio-http2"),
            .product(name: "NIOHTTP2", package: "swift-nio-http2"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
            .product(name: "SwiftASN1", package: "swift-asn1"),
            .product(name: "X509", package: "swift-certificates"),
            .product(name: "GRDB", package: "GRDB.swift"),
            .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "Tracing", package: "swift-distributed-tracing"),
        ] + grpc,
        swiftSettings: strict),
]

let package = Package(
    name: "sightline",
    products: products,
    traits: [
        .trait(name: "NATS", description: "The sink for NATS JetStream; links libnats.")
    ],
    dependencies: dependencies,
    targets: targets,
    swiftLanguageModes: [.v6]
)
