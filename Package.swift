// swift-tools-version: 6.2
import PackageDescription

/// For servers with sinks of their own, and for programs that send events: Examples.
let (sinks, client) = (["SightlineSinks"], ["SightlineClient", "SightlineProtos"])
let products: [Product] = [
    .executable(name: "sightline", targets: ["sightline"]),
    .library(name: "SightlineSinks", targets: sinks),
    .library(name: "SightlineClient", targets: client),
]

/// Packages of GitHub, the oldest version of each that serves, and the products that we use.
let packages: [(path: String, from: Version, products: [String])] = [
    ("grpc/grpc-swift-2", "2.4.3", ["GRPCCore"]),
    ("grpc/grpc-swift-nio-transport", "2.9.2", ["GRPCNIOTransportHTTP2Posix"]),
    ("grpc/grpc-swift-protobuf", "2.4.1", ["GRPCProtobuf"]),
    ("apple/swift-protobuf", "1.39.0", ["SwiftProtobuf"]),
    (
        "apple/swift-distributed-tracing", "1.7.3",
        ["InMemoryTracing", "Instrumentation", "Tracing"]
    ),
    ("apple/swift-service-context", "1.5.1", ["ServiceContextModule"]),
    ("apple/swift-log", "1.16.2", ["Logging"]),
    ("apple/swift-metrics", "2.13.0", ["CoreMetrics", "MetricsTestKit"]),
    (
        "hummingbird-project/hummingbird", "2.28.1",
        ["Hummingbird", "HummingbirdCore", "HummingbirdTesting"]
    ),
    ("swift-server/async-http-client", "1.37.0", ["AsyncHTTPClient"]),
    ("apple/swift-http-types", "1.8.0", ["HTTPTypes"]),
    ("apple/swift-collections", "1.6.0", ["DequeModule"]),
    ("apple/swift-nio", "2.101.2", ["NIOCore", "NIOEmbedded", "NIOHTTP1", "NIOPosix"]),
    ("apple/swift-nio-extras", "1.35.2", ["NIOCertificateReloading", "NIOHTTPTypes"]),
    ("apple/swift-nio-http2", "1.46.0", ["NIOHPACK", "NIOHTTP2"]),
    ("apple/swift-nio-ssl", "2.37.6", ["NIOSSL"]),
    ("apple/swift-certificates", "1.21.1", ["X509"]),
    ("apple/swift-asn1", "1.7.4", ["SwiftASN1"]),
    ("apple/swift-crypto", "4.5.2", ["Crypto", "CryptoExtras"]),
    ("vapor/jwt-kit", "5.7.1", ["JWTKit"]),
    ("HdrHistogram/hdrhistogram-swift", "0.2.0", ["Histogram"]),
    ("apple/swift-argument-parser", "1.8.2", ["ArgumentParser"]),
    ("swift-server/swift-service-lifecycle", "2.13.0", ["ServiceLifecycle", "UnixSignals"]),
    ("groue/GRDB.swift", "7.10.0", ["GRDB", "GRDBSQLite"]),
    ("jpsim/Yams", "6.2.2", ["Yams"]),
]

/// The strict settings of every hand-written target. A misspelt feature is silently ignored by the
/// compiler, so each target holds a `Settings.swift` that fails to build when one of them is off.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// Products by their names, from whatever package has them.
func libraries(_ names: String...) -> [Target.Dependency] {
    names.map { name in
        let path = packages.first { $0.products.contains(name) }?.path
        let package = path?.split(separator: "/").last.map(String.init)
        return .product(name: name, package: package ?? "unknown: add it to the table")
    }
}

/// A client or a server of gRPC.
let grpc = libraries("GRPCCore", "GRPCNIOTransportHTTP2Posix", "GRPCProtobuf", "SwiftProtobuf")

/// A module of ours.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// The tests of a module, or of several.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// A program for ourselves, in no product.
func tool(
    _ name: String, _ dependencies: [Target.Dependency], path: String, exclude: [String] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: path, exclude: exclude, swiftSettings: strict)
}

/// In no product: a program that uses a product as a package outside of this one does.
func outside(_ name: String, _ path: String, _ product: [String]) -> Target {
    .executableTarget(
        name: name, dependencies: product.map { .byName(name: $0) }, path: path,
        packageAccess: false)
}

let protos: [Target.Dependency] = ["SightlineProtos"] + libraries("SwiftProtobuf")
/// What each sink's module stands on.
let sink: [Target.Dependency] = ["SinkConfiguration", "TrackingCore", "TrackingSinks"]
let tracing = libraries("Instrumentation", "ServiceContextModule", "Tracing")
let http = libraries("AsyncHTTPClient", "NIOCore", "NIOHTTP1", "NIOSSL")
/// What a part of a server tells of itself, and how it ends.
let running = libraries("CoreMetrics", "Logging", "ServiceLifecycle")
let sqlite = libraries("GRDB", "GRDBSQLite")
/// The way of a hit, from the rules to the sinks.
let hits: [Target.Dependency] = [
    "TrackingCore", "TrackingJournal", "TrackingLedger", "TrackingSinks",
]
/// What a server has around it: who may call, what is configured, seen and kept besides.
let around: [Target.Dependency] = [
    "AdminServer", "ConfigurationKeys", "Credentials", "EventQuarantine", "HTTP2Edge",
    "SinkConfiguration", "SubjectPrivacy", "Telemetry", "VerdictTap",
]
let service = ["SightlineProtos"] + grpc

let targets: [Target] = [
    .target(
        name: "SightlineProtos",
        dependencies: libraries("GRPCCore", "GRPCProtobuf", "SwiftProtobuf")),
    .systemLibrary(name: "CLibcrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CMalloc"),
    .target(name: "CDeflate", linkerSettings: [.linkedLibrary("z")]),
    .target(name: "CInflate", linkerSettings: [.linkedLibrary("z")]),
    .plugin(name: "BuildFacts", capability: .buildTool(), exclude: ["facts.sh"]),
    module("ConfigurationKeys"),
    module("TrackingCore", ["CLibcrypto", "ConfigurationKeys"]),
    .target(name: "CCRC32C"),
    module("TrackingLedger", ["CCRC32C", "ConfigurationKeys", "TrackingCore"]),
    module(
        "TrackingJournal",
        ["CCRC32C", "ConfigurationKeys", "TrackingCore", "TrackingLedger"]
            + libraries("DequeModule") + sqlite),
    .systemLibrary(name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CNats", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
    .systemLibrary(name: "CRdKafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])]),
    // In every build, without a trait: small, and on nearly every Linux system already.
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    module("SinkConfiguration", ["ConfigurationKeys", "TrackingCore"]),
    module(
        "TrackingSinks",
        ["CZstd", "SightlineProtos", "SinkConfiguration", "TrackingCore", "TrackingJournal"]
            + tracing + sqlite + running + libraries("SwiftProtobuf")),
    module("SQLiteSink", sink + ["TrackingJournal"] + libraries("Logging") + sqlite),
    module("CampaignSink", sink + http),
    module("GRPCSink", sink + ["CCRC32C"] + service),
    module(
        "WebhookSink",
        sink + http
            + libraries("Crypto", "Instrumentation", "NIOPosix", "ServiceContextModule")),
    // In the program only with their traits.
    module("KafkaSink", sink + ["CRdKafka"]),
    module("NATSSink", sink + ["CNats"]),
    module("PostgreSQLSink", sink + ["CLibpq"] + libraries("Logging")),
    module("TerminalText"),
    module("AdminClient", ["AdminServer", "SightlineClient", "TerminalText"] + http),
    module("DevelopmentCA", libraries("Crypto", "SwiftASN1", "X509")),
    module("ServiceManager", libraries("ServiceLifecycle")),
    module("ServerReflection", service),
    module("SightlineClient", service + tracing + libraries("CoreMetrics", "DequeModule")),
    module(
        "EventFiles",
        ["SightlineClient", "TerminalText", "TrackingCore", "TrackingLedger"] + service),
    module(
        "SightlineBench",
        ["EventFiles", "SightlineClient", "TerminalText", "TrackingCore"] + service
            + libraries("Histogram")),
    module("ClientConformance", service + libraries("NIOCore")),
    module(
        "Telemetry",
        ["CDeflate", "ConfigurationKeys", "TrackingCore"] + service + tracing + http + running),
    module(
        "Credentials",
        ["ConfigurationKeys", "TrackingCore"]
            + libraries(
                "Crypto", "CryptoExtras", "GRPCCore", "GRPCNIOTransportHTTP2Posix", "JWTKit",
                "Logging", "NIOCertificateReloading", "NIOCore", "NIOSSL", "ServiceLifecycle",
                "SwiftASN1", "X509", "Yams")),
    module(
        "HTTP2Edge",
        ["CInflate", "ConfigurationKeys"]
            + libraries(
                "GRPCCore", "GRPCNIOTransportHTTP2Posix", "Logging", "NIOCore", "NIOHPACK",
                "NIOHTTP2", "NIOSSL")),
    module("EventQuarantine", ["ConfigurationKeys"] + hits + sqlite + running),
    module("SubjectPrivacy", ["ConfigurationKeys"] + hits + sqlite + running),
    module(
        "VerdictTap", ["ConfigurationKeys", "TrackingCore"] + protos + libraries("DequeModule")),
    module("TrackingReport", ["TerminalText", "TrackingCore", "TrackingLedger"] + sqlite),
    .target(
        name: "AdminServer",
        dependencies: [
            "ConfigurationKeys", "EventQuarantine", "SightlineProtos", "SubjectPrivacy",
            "Telemetry", "TrackingCore", "TrackingLedger", "TrackingSinks", "VerdictTap",
        ]
            + libraries(
                "DequeModule", "HTTPTypes", "Hummingbird", "HummingbirdCore", "Logging", "Crypto",
                "NIOCore", "NIOHTTPTypes", "ServiceLifecycle", "SwiftProtobuf"),
        resources: ["page.html", "page.css", "plots.js", "page.js"].map {
            .embedInCode("Page/" + $0)
        },
        swiftSettings: strict),
    module(
        "ServerConfiguration",
        around + hits
            + libraries("Logging", "NIOCore", "ServiceLifecycle", "UnixSignals", "Yams")),
    module(
        "TrackingServer",
        [
            "CampaignSink", "GRPCSink", "SQLiteSink", "ServerConfiguration", "ServerReflection",
            "ServiceManager", "WebhookSink",
            .target(name: "KafkaSink", condition: .when(traits: ["Kafka"])),
            .target(name: "NATSSink", condition: .when(traits: ["NATS"])),
            .target(name: "PostgreSQLSink", condition: .when(traits: ["PostgreSQL"])),
        ]
            + around + hits + service + tracing
            + libraries(
                "CoreMetrics", "DequeModule", "Logging", "NIOCore", "NIOHPACK", "ServiceLifecycle",
                "UnixSignals", "X509")),
    module(
        "SightlineSinks",
        ["ServerConfiguration", "Telemetry", "TrackingServer"] + hits + libraries("Logging")),
    .executableTarget(
        name: "sightline",
        dependencies: [
            "AdminClient", "CMalloc", "ClientConformance", "DevelopmentCA", "EventFiles",
            "GRPCSink", "SQLiteSink", "ServerConfiguration", "SightlineBench", "SightlineClient",
            "TerminalText", "TrackingReport", "TrackingServer",
        ]
            + around + hits + protos
            + libraries("ArgumentParser", "GRDB", "Logging", "ServiceLifecycle"),
        // A link to docs/rules.md, for `explain --rule`.
        resources: [.embedInCode("rules.md")],
        swiftSettings: strict,
        plugins: ["BuildFacts"]),
    tool(
        "microbench", ["SQLiteSink"] + hits, path: "Benchmarks/micro",
        exclude: ["run", "baseline.json"]),
    tool("simulate", hits + running + sqlite, path: "Tests/Simulation"),
    outside("PrintingServerExample", "Examples/sink-swift/Sources/PrintingServer", sinks),
    outside("SendingClientExample", "Examples/client-swift/Sources/SendingClient", client),
    outside("LibraryClient", "Tests/Interop/clients/library-swift", client),
    // In no product: `swift build --product wholestack`, or Scripts/fuzz with libFuzzer.
    tool(
        "wholestack",
        ["HTTP2Edge", "ServerConfiguration", "SubjectPrivacy", "TrackingServer"] + hits + protos
            + libraries(
                "GRPCCore", "GRPCNIOTransportHTTP2Posix", "Logging", "NIOCore", "NIOEmbedded"),
        path: "Tests/Fuzz/Stack"),
    // What several targets' tests need: chance that can be repeated, events, directories, fixtures.
    .target(
        name: "TestSupport", dependencies: protos, path: "Tests/Support", swiftSettings: strict),
    tests("TrackingCoreTests", ["TestSupport", "TrackingCore"] + protos),
    tests("TrackingLedgerTests", ["TestSupport", "TrackingCore", "TrackingLedger"]),
    tests("TrackingJournalTests", ["CCRC32C", "TestSupport"] + hits + libraries("GRDB")),
    tests(
        "TrackingSinksTests",
        [
            "CLibpq", "CNats", "CRdKafka", "CZstd", "CampaignSink", "GRPCSink", "KafkaSink",
            "NATSSink", "PostgreSQLSink", "SQLiteSink", "SightlineSinks", "SinkConfiguration",
            "Telemetry", "TestSupport", "WebhookSink",
        ]
            + hits + service
            + libraries(
                "CoreMetrics", "Crypto", "GRDB", "HTTPTypes", "Hummingbird", "Logging",
                "MetricsTestKit", "NIOCore", "ServiceLifecycle", "Tracing")),
    tests(
        "SightlineClientTests",
        ["EventFiles", "SightlineClient", "TestSupport"] + service
            + libraries("CoreMetrics", "InMemoryTracing", "MetricsTestKit", "Tracing")),
    tests(
        "EventFilesTests",
        ["EventFiles", "SightlineClient", "TerminalText", "TestSupport", "TrackingCore"] + protos),
    tests("SightlineBenchTests", ["SightlineBench", "SightlineClient", "TrackingCore"] + service),
    tests("ClientConformanceTests", ["ClientConformance", "SightlineProtos"]),
    tests(
        "TelemetryTests", ["Telemetry", "TrackingCore"] + service + tracing + http + running),
    tests(
        "TrackingReportTests",
        ["SQLiteSink", "TestSupport", "TrackingReport"] + hits + protos + libraries("GRDB")),
    tests(
        "TrackingServerTests",
        [
            "EventFiles", "ServerConfiguration", "ServerReflection", "SightlineClient",
            "TestSupport", "TrackingServer",
        ]
            + around + hits + service
            + libraries(
                "Crypto", "HTTPTypes", "Hummingbird", "HummingbirdTesting", "JWTKit", "CoreMetrics",
                "NIOCore", "NIOEmbedded", "NIOHPACK", "NIOHTTP2", "NIOSSL", "SwiftASN1", "X509",
                "GRDB", "InMemoryTracing", "Logging", "Tracing")),
]

let package = Package(
    name: "sightline",
    products: products,
    traits: [
        .trait(name: "Kafka", description: "The sink for Apache Kafka; links librdkafka."),
        .trait(name: "NATS", description: "The sink for NATS JetStream; links libnats."),
        .trait(name: "PostgreSQL", description: "The sink for PostgreSQL; links libpq."),
    ],
    dependencies: packages.map { .package(url: "https://github.com/" + $0.path, from: $0.from) },
    targets: targets,
    swiftLanguageModes: [.v6]
)
