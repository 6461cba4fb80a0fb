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
    ("hummingbird-project/swift-mustache", "2.1.1", ["Mustache"]),
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
        return .product(
            name: name, package: path.map(lastPart) ?? "unknown: add it to the table")
    }
}

/// A client or a server of gRPC.
let grpc = libraries("GRPCCore", "GRPCNIOTransportHTTP2Posix", "GRPCProtobuf", "SwiftProtobuf")

/// The last part of a path.
func lastPart(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
}

/// A module of ours, which is named after its folder below Sources.
func module(_ path: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: lastPart(of: path), dependencies: dependencies, path: "Sources/" + path,
        swiftSettings: strict)
}

/// A small module in C, whose header stands beside its source.
func native(_ name: String, _ libraries: String...) -> Target {
    .target(
        name: name, path: "Sources/Base/Native/" + name, publicHeadersPath: ".",
        linkerSettings: libraries.map { .linkedLibrary($0) })
}

/// A library of the system, as a module.
func system(_ name: String, _ pkgConfig: String, _ package: String) -> Target {
    .systemLibrary(
        name: name, path: "Sources/Base/Native/" + name, pkgConfig: pkgConfig,
        providers: [.apt([package])])
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
        dependencies: libraries("GRPCCore", "GRPCProtobuf", "SwiftProtobuf"),
        path: "Sources/Base/SightlineProtos"),
    system("CLibcrypto", "libcrypto", "libssl-dev"),
    .systemLibrary(name: "CMalloc", path: "Sources/Base/Native/CMalloc"),
    native("CDeflate", "z"),
    native("CInflate", "z"),
    .plugin(name: "BuildFacts", capability: .buildTool(), exclude: ["facts.sh"]),
    module("Base/ConfigurationKeys"),
    module("Core/TrackingCore", ["CLibcrypto", "ConfigurationKeys"]),
    native("CCRC32C"),
    module("Core/TrackingLedger", ["CCRC32C", "ConfigurationKeys", "TrackingCore"]),
    module(
        "Core/TrackingJournal",
        ["CCRC32C", "ConfigurationKeys", "TrackingCore", "TrackingLedger"]
            + libraries("DequeModule") + sqlite),
    system("CLibpq", "libpq", "libpq-dev"),
    system("CNats", "libnats", "libnats-dev"),
    system("CRdKafka", "rdkafka", "librdkafka-dev"),
    // In every build, without a trait: small, and on nearly every Linux system already.
    system("CZstd", "libzstd", "libzstd-dev"),
    module("Sinks/SinkConfiguration", ["ConfigurationKeys", "TrackingCore"]),
    module(
        "Delivery/TrackingSinks",
        ["CZstd", "SightlineProtos", "SinkConfiguration", "TrackingCore", "TrackingJournal"]
            + tracing + sqlite + running + libraries("SwiftProtobuf")),
    module("Sinks/SQLiteSink", sink + ["TrackingJournal"] + libraries("Logging") + sqlite),
    module("Sinks/CampaignSink", sink + http),
    module("Sinks/GRPCSink", sink + ["CCRC32C"] + service),
    module(
        "Sinks/WebhookSink",
        sink + http
            + libraries("Crypto", "Instrumentation", "NIOPosix", "ServiceContextModule")),
    // In the program only with their traits.
    module("Sinks/KafkaSink", sink + ["CRdKafka"]),
    module("Sinks/NATSSink", sink + ["CNats"]),
    module("Sinks/PostgreSQLSink", sink + ["CLibpq"] + libraries("Logging")),
    module("Commands/TerminalText"),
    module("Commands/AdminClient", ["AdminServer", "SightlineClient", "TerminalText"] + http),
    module("Commands/DevelopmentCA", libraries("Crypto", "SwiftASN1", "X509")),
    module("Server/ServiceManager", libraries("ServiceLifecycle")),
    module("Server/ServerReflection", service),
    module("Client/SightlineClient", service + tracing + libraries("CoreMetrics", "DequeModule")),
    module(
        "Commands/EventFiles",
        ["SightlineClient", "TerminalText", "TrackingCore", "TrackingLedger"] + service),
    module("Tools/ClientConformance", service + libraries("NIOCore")),
    module(
        "Base/Telemetry",
        ["CDeflate", "ConfigurationKeys", "TrackingCore"] + service + tracing + http + running),
    module(
        "Edge/Credentials",
        ["ConfigurationKeys", "TrackingCore"]
            + libraries(
                "Crypto", "CryptoExtras", "GRPCCore", "GRPCNIOTransportHTTP2Posix", "JWTKit",
                "Logging", "NIOCertificateReloading", "NIOCore", "NIOSSL", "ServiceLifecycle",
                "SwiftASN1", "X509", "Yams")),
    module(
        "Edge/HTTP2Edge",
        ["CInflate", "ConfigurationKeys"]
            + libraries(
                "GRPCCore", "GRPCNIOTransportHTTP2Posix", "Logging", "NIOCore", "NIOHPACK",
                "NIOHTTP2", "NIOSSL")),
    module("Edge/EventQuarantine", ["ConfigurationKeys"] + hits + sqlite + running),
    module("Edge/SubjectPrivacy", ["ConfigurationKeys"] + hits + sqlite + running),
    module(
        "Edge/VerdictTap",
        ["ConfigurationKeys", "TrackingCore"] + protos + libraries("DequeModule")),
    .target(
        name: "TrackingReport",
        dependencies: ["TerminalText", "TrackingCore", "TrackingLedger"] + sqlite
            + libraries("Mustache"),
        path: "Sources/Commands/TrackingReport", resources: [.embedInCode("page.mustache")],
        swiftSettings: strict),
    .target(
        name: "AdminServer",
        dependencies: [
            "ConfigurationKeys", "EventQuarantine", "SightlineProtos", "SubjectPrivacy",
            "Telemetry", "TrackingCore", "TrackingLedger", "TrackingSinks", "VerdictTap",
        ]
            + libraries(
                "DequeModule", "HTTPTypes", "Hummingbird", "HummingbirdCore", "Logging", "Crypto",
                "NIOCore", "NIOHTTPTypes", "ServiceLifecycle", "SwiftProtobuf"),
        path: "Sources/Edge/AdminServer",
        resources: ["page.html", "page.css", "plots.js", "page.js"].map {
            .embedInCode("Page/" + $0)
        },
        swiftSettings: strict),
    module(
        "Server/ServerConfiguration",
        around + hits
            + libraries("Logging", "NIOCore", "ServiceLifecycle", "UnixSignals", "Yams")),
    module(
        "Server/TrackingServer",
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
        "Server/SightlineSinks",
        ["ServerConfiguration", "Telemetry", "TrackingServer"] + hits + libraries("Logging")),
    .executableTarget(
        name: "sightline",
        dependencies: [
            "AdminClient", "CMalloc", "ClientConformance", "DevelopmentCA", "EventFiles",
            "GRPCSink", "SQLiteSink", "ServerConfiguration", "SightlineClient", "TerminalText",
            "TrackingReport", "TrackingServer",
        ]
            + around + hits + service
            + libraries("ArgumentParser", "GRDB", "Histogram", "Logging", "ServiceLifecycle"),
        path: "Sources/Commands/sightline",
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
    tests("SightlineTests", ["TrackingCore", "sightline"] + protos + libraries("ArgumentParser")),
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
