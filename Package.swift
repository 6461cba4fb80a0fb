// swift-tools-version: 6.2
import PackageDescription

/// For servers with sinks of their own, and for programs that send events: Examples.
let sinkLibrary = ["SightlineSinks"]
let clientLibrary = ["SightlineClient", "SightlineProtos"]
let products: [Product] = [
    .executable(name: "sightline", targets: ["sightline"]),
    .executable(name: "sightline-conformance", targets: ["sightline-conformance"]),
    .library(name: "SightlineSinks", targets: sinkLibrary),
    .library(name: "SightlineClient", targets: clientLibrary),
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
    ("apple/swift-log", "1.16.2", ["InMemoryLogging", "Logging"]),
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
    (
        "apple/swift-nio-extras", "1.35.2",
        [
            "NIOCertificateReloading", "NIOHTTPTypes", "NIOHTTPTypesHTTP1", "NIOHTTPTypesHTTP2",
        ]
    ),
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
/// compiler: `StrictSettings.swift` of TidyTests fails to build when one of them is off.
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

/// What tests need, in no product.
func support(_ name: String, _ dependencies: [Target.Dependency], path: String) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: strict)
}

/// The tests of a module.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// A program besides the server.
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

/// A library in C that is linked only with a trait. The module that uses it is in every build, so
/// that its configuration is; what needs the library stands in `#if`.
func linked(_ library: String, with trait: String) -> [Target.Dependency] {
    [.target(name: library, condition: .when(traits: [trait]))]
}

let protos: [Target.Dependency] = ["SightlineProtos"] + libraries("SwiftProtobuf")
let service = ["SightlineProtos"] + grpc
let tracing = libraries("Instrumentation", "ServiceContextModule", "Tracing")
/// A client over HTTP.
let http = ["HTTPClients"] + libraries("AsyncHTTPClient", "NIOCore", "NIOHTTP1", "NIOSSL")
/// What a part of a server tells of itself, and how it ends.
let running = libraries("CoreMetrics", "Logging", "ServiceLifecycle")
let sqlite = libraries("GRDB", "GRDBSQLite")
/// The way of a hit, from the rules to the forwarder, and what it stands on.
let hits: [Target.Dependency] = [
    "Delivery", "JSON", "Pacing", "SinkKit", "Storage", "TrackingJournal", "TrackingRules",
    "W3CTrace", "WireFormat",
]
/// What each sink's module stands on.
let sink: [Target.Dependency] = [
    "ConfigurationKeys", "JSON", "Pacing", "SinkKit", "TrackingRules", "W3CTrace", "WireFormat",
]
/// Every backend. Those that are linked only with a trait have their configuration in any build.
let sinks: [Target.Dependency] = [
    "CampaignSink", "FileSinks", "GRPCSink", "KafkaSink", "NATSSink", "PostgreSQLSink",
    "SQLiteSink", "WebhookSink",
]
/// What a peer or an operator reaches.
let edge: [Target.Dependency] = [
    "AdminProtocol", "AdminServer", "Credentials", "HTTP2Edge", "HTTPDoor", "Operations",
]

/// What a person types, and what it prints.
let commands: [Target] = [
    .executableTarget(
        name: "sightline",
        dependencies: [
            "CMalloc", "ConfigurationKeys", "DeliveryDiagnosis", "EventJSON", "PayloadInspector",
            "ServerConfiguration", "SightlineClient", "Telemetry", "TrackingReport",
            "TrackingServer",
        ]
            + edge + sinks + hits + service + http
            + libraries(
                "ArgumentParser", "Crypto", "GRDB", "Histogram", "Logging", "ServiceLifecycle",
                "SwiftASN1", "UnixSignals", "X509"),
        path: "Sources/Commands/sightline",
        // A link to docs/rules.md, for `explain --rule`.
        resources: [.embedInCode("rules.md")],
        swiftSettings: strict,
        plugins: ["BuildFacts"]),
    .target(
        name: "TrackingReport",
        dependencies: [
            "DeliveryDiagnosis", "Storage", "TrackingJournal", "TrackingRules", "WireFormat",
        ]
            + sqlite + libraries("Mustache"),
        path: "Sources/Commands/TrackingReport",
        resources: [.embedInCode("page.mustache")],
        swiftSettings: strict),
]

/// A public library for programs that send events.
let client: [Target] = [
    module(
        "Client/SightlineClient",
        ["WireFormat"] + service + tracing + libraries("CoreMetrics", "DequeModule", "Logging"))
]

/// The judges of other people's clients and backends, a product of its own.
let kit: [Target] = [
    tool(
        "sightline-conformance",
        [
            "BackendConformance", "ClientConformance", "ConfigurationKeys", "GRPCSink",
            "WireFormat",
        ]
            + libraries("ArgumentParser"),
        path: "Sources/Tools/sightline-conformance"),
    module("Tools/BackendConformance", ["ConfigurationKeys", "GRPCSink"] + protos),
    module("Tools/ClientConformance", ["WireFormat"] + service + libraries("NIOCore")),
]

/// Puts the parts together, and runs them.
let server: [Target] = [
    module(
        "Server/TrackingServer",
        [
            "ConfigurationKeys", "DeliveryDiagnosis", "FileSinks", "PayloadInspector",
            "ServerConfiguration", "Telemetry",
        ]
            + edge + hits + service + tracing
            + libraries(
                "CoreMetrics", "DequeModule", "Logging", "NIOCore", "NIOHPACK", "ServiceLifecycle",
                "UnixSignals", "X509")),
    module(
        "Server/SightlineSinks",
        ["ServerConfiguration", "Telemetry", "TrackingServer"] + hits + libraries("Logging")),
    module(
        "Server/ServerConfiguration",
        ["ConfigurationKeys", "Telemetry"] + edge + sinks + hits
            + libraries("Logging", "NIOCore", "ServiceLifecycle", "UnixSignals", "Yams")),
]

/// Everything that a peer or an operator can reach.
let edges: [Target] = [
    module(
        "Edge/HTTP2Edge",
        ["CInflate", "ConfigurationKeys", "Pacing"]
            + libraries(
                "GRPCCore", "GRPCNIOTransportHTTP2Posix", "Logging", "NIOCore", "NIOHPACK",
                "NIOHTTP2", "NIOSSL")),
    module(
        "Edge/Credentials",
        ["ConfigurationKeys", "JSON", "Pacing", "WireFormat"]
            + libraries(
                "Crypto", "CryptoExtras", "GRPCCore", "GRPCNIOTransportHTTP2Posix", "JWTKit",
                "Logging", "NIOCertificateReloading", "NIOCore", "NIOSSL", "ServiceLifecycle",
                "SwiftASN1", "X509", "Yams")),
    // For those who have no gRPC.
    module(
        "Edge/HTTPDoor",
        [
            "CZstd", "ConfigurationKeys", "Credentials", "EventJSON", "HTTP2Edge", "JSON", "Pacing",
            "Telemetry", "TrackingRules", "WireFormat",
        ] + service + http
            + libraries(
                "HTTPTypes", "Logging", "NIOHTTP2", "NIOHTTPTypes", "NIOHTTPTypesHTTP1",
                "NIOHTTPTypesHTTP2", "NIOPosix", "SwiftASN1", "X509")),
    // The commands read these documents without the HTTP server that writes them.
    module("Edge/AdminProtocol"),
    .target(
        name: "AdminServer",
        dependencies: [
            "AdminProtocol", "ConfigurationKeys", "Credentials", "DeliveryDiagnosis", "Operations",
            "SightlineProtos", "Telemetry",
        ]
            + hits
            + libraries(
                "DequeModule", "HTTPTypes", "Hummingbird", "HummingbirdCore", "Logging", "Crypto",
                "NIOCore", "NIOHTTPTypes", "ServiceLifecycle", "SwiftProtobuf"),
        path: "Sources/Edge/AdminServer",
        resources: [
            "page.html", "page.css", "plots.js", "page.js", "send.html", "send.css", "send.js",
        ].map { .embedInCode("Page/" + $0) },
        swiftSettings: strict),
    module(
        "Edge/Operations",
        ["ConfigurationKeys"] + hits + protos + sqlite + running + libraries("DequeModule")),
]

/// A backend each, which decides nothing.
let backends: [Target] = [
    module("Sinks/SQLiteSink", sink + ["Storage"] + libraries("Logging") + sqlite),
    module(
        "Sinks/PostgreSQLSink",
        sink + linked("CLibpq", with: "PostgreSQL") + libraries("Logging")),
    module("Sinks/KafkaSink", sink + linked("CRdKafka", with: "Kafka")),
    module("Sinks/NATSSink", sink + linked("CNats", with: "NATS")),
    module(
        "Sinks/WebhookSink",
        sink + http
            + libraries(
                "Crypto", "Instrumentation", "Logging", "NIOPosix", "ServiceContextModule")),
    module("Sinks/CampaignSink", sink + http),
    module("Sinks/GRPCSink", sink + ["CCRC32C"] + service + libraries("ServiceLifecycle")),
    module("Sinks/FileSinks", sink + ["CZstd"] + libraries("Logging")),
]

/// Brings hits from the journal to sinks.
let delivery: [Target] = [
    module(
        "Delivery/Delivery",
        ["SinkKit", "Storage", "TrackingJournal", "TrackingRules", "W3CTrace", "WireFormat"]
            + ["JSON", "Pacing"] + tracing + sqlite + running),
    module(
        "Delivery/SinkKit",
        ["ConfigurationKeys", "JSON", "TrackingRules", "W3CTrace", "WireFormat"] + protos
            + libraries("ServiceLifecycle")),
]

/// What an event means, and how it is kept.
let core: [Target] = [
    module(
        "Core/DeliveryDiagnosis", ["Pacing", "TrackingJournal", "TrackingRules", "WireFormat"]),
    module(
        "Core/TrackingJournal",
        ["CCRC32C", "ConfigurationKeys", "Pacing", "Storage", "TrackingRules", "WireFormat"]
            + libraries("DequeModule", "Logging") + sqlite),
    module("Core/PayloadInspector", ["JSON", "TrackingRules", "WireFormat"]),
    module(
        "Core/TrackingRules", ["CLibcrypto", "ConfigurationKeys", "JSON", "W3CTrace", "WireFormat"]),
]

/// Knows no event.
let base: [Target] = [
    module(
        "Base/Telemetry",
        ["CDeflate", "ConfigurationKeys", "Pacing", "W3CTrace", "WireFormat"]
            + service + tracing + http + running),
    module("Base/Storage", ["Pacing", "WireFormat"] + libraries("Logging") + sqlite),
    module("Base/W3CTrace", ["WireFormat"]),
    module("Base/EventJSON", ["JSON", "WireFormat"] + protos),
    module("Base/HTTPClients", libraries("NIOSSL")),
    module("Base/JSON", ["WireFormat"]),
    module("Base/WireFormat"),
    module("Base/Pacing"),
    module("Base/ConfigurationKeys"),
    .target(
        name: "SightlineProtos",
        dependencies: libraries("GRPCCore", "GRPCProtobuf", "SwiftProtobuf"),
        path: "Sources/Base/SightlineProtos"),
    native("CCRC32C"),
    native("CDeflate", "z"),
    native("CInflate", "z"),
    system("CLibcrypto", "libcrypto", "libssl-dev"),
    system("CLibpq", "libpq", "libpq-dev"),
    .systemLibrary(name: "CMalloc", path: "Sources/Base/Native/CMalloc"),
    system("CNats", "libnats", "libnats-dev"),
    system("CRdKafka", "rdkafka", "librdkafka-dev"),
    // In every build, without a trait: small, and on nearly every Linux system already.
    system("CZstd", "libzstd", "libzstd-dev"),
    .plugin(name: "BuildFacts", capability: .buildTool(), exclude: ["facts.sh"]),
]

/// In no product: what measures, searches and shows.
let tools: [Target] = [
    tool(
        "microbench", ["SQLiteSink", "FileSinks"] + hits, path: "Benchmarks/micro",
        exclude: ["run", "baseline.json"]),
    // The library beneath the server, for the benchmarks.
    tool(
        "bareserver", libraries("GRPCCore", "GRPCNIOTransportHTTP2Posix"), path: "Benchmarks/bare"),
    tool(
        "simulate",
        ["CMalloc", "FileSinks", "Operations", "SQLiteSink", "SightlineProtos", "TestSupport"]
            + hits + running + sqlite,
        path: "Tests/Simulation"),
    outside("PrintingServerExample", "Examples/sink-swift/Sources/PrintingServer", sinkLibrary),
    outside("SendingClientExample", "Examples/client-swift/Sources/SendingClient", clientLibrary),
    outside("LibraryClient", "Tests/Interop/clients/library-swift", clientLibrary),
    // In no product: `swift build --product wholestack`, or Scripts/fuzz with libFuzzer.
    tool(
        "wholestack",
        ["ServerConfiguration", "TrackingServer"] + edge + hits + protos
            + libraries(
                "GRPCCore", "GRPCNIOTransportHTTP2Posix", "Logging", "NIOCore", "NIOEmbedded"),
        path: "Tests/Fuzz/Stack"),
]

/// What the tests of several modules need.
let support: [Target] = [
    // Chance that can be repeated, events, directories, fixtures, a clock.
    support("TestSupport", protos, path: "Tests/Support"),
    // Hits, sinks that do what a test says, and a backend for each sink of ours.
    support(
        "SinkTestSupport",
        [
            "CNats", "CRdKafka", "CZstd", "Delivery", "ServerConfiguration", "SinkKit",
            "TestSupport",
            "TrackingJournal", "TrackingRules", "W3CTrace", "WireFormat",
        ] + sinks + service
            + libraries("Crypto", "GRDB", "HTTPTypes", "Hummingbird", "Logging", "NIOCore"),
        path: "Tests/SinkSupport"),
    // A server, and what is said to one.
    support(
        "ServerTestSupport",
        [
            "AdminServer", "HTTP2Edge", "ServerConfiguration", "SightlineClient", "Telemetry",
            "TestSupport", "TrackingJournal", "TrackingRules", "TrackingServer",
        ] + service + libraries("GRDB", "Logging"), path: "Tests/ServerSupport"),
]

/// The tests of each module, and of the sources' shape.
let testTargets: [Target] = [
    tests(
        "AdminServerTests",
        [
            "Delivery", "ServerConfiguration", "ServerTestSupport", "Telemetry", "TestSupport",
            "TrackingJournal", "TrackingRules", "TrackingServer", "WireFormat",
        ] + edge + service + libraries("HTTPTypes", "Hummingbird", "HummingbirdTesting")),
    tests(
        "CampaignSinkTests",
        [
            "CampaignSink", "Delivery", "SightlineProtos", "SinkKit", "SinkTestSupport",
            "TestSupport", "TrackingRules",
        ]),
    tests("ClientConformanceTests", ["ClientConformance", "SightlineProtos"]),
    tests(
        "CredentialsTests",
        [
            "ConfigurationKeys", "Credentials", "HTTP2Edge", "JSON", "ServerConfiguration",
            "ServerTestSupport", "SightlineClient", "Telemetry", "TestSupport", "TrackingJournal",
            "TrackingRules", "TrackingServer",
        ] + service
            + libraries("Crypto", "GRDB", "JWTKit", "Logging", "NIOSSL", "SwiftASN1", "X509")),
    tests(
        "DeliveryDiagnosisTests",
        ["DeliveryDiagnosis", "TrackingJournal", "TrackingRules", "WireFormat"]),
    tests(
        "DeliveryTests",
        [
            "FileSinks", "SQLiteSink", "ServerConfiguration", "SinkTestSupport", "Telemetry",
            "TestSupport",
        ] + hits + protos
            + libraries(
                "CoreMetrics", "GRDB", "InMemoryLogging", "Logging", "MetricsTestKit",
                "ServiceLifecycle", "Tracing")),
    tests(
        "EventJSONTests", ["EventJSON", "JSON", "TestSupport", "WireFormat"] + protos),
    tests(
        "FileSinksTests",
        ["FileSinks", "SinkKit", "SinkTestSupport", "TestSupport", "WireFormat"] + protos),
    tests(
        "GRPCSinkTests",
        [
            "ConfigurationKeys", "GRPCSink", "SinkKit", "SinkTestSupport", "TestSupport",
            "TrackingRules",
        ] + protos + libraries("Logging", "ServiceLifecycle")),
    tests(
        "HTTP2EdgeTests",
        ["HTTP2Edge", "TestSupport", "TrackingServer"] + service
            + libraries("Logging", "NIOCore", "NIOEmbedded", "NIOHPACK", "NIOHTTP2")),
    tests("HTTPClientsTests", ["HTTPClients", "TestSupport"] + libraries("NIOSSL")),
    tests(
        "HTTPDoorTests",
        [
            "CZstd", "ConfigurationKeys", "Credentials", "EventJSON", "HTTP2Edge", "HTTPDoor",
            "JSON", "ServerConfiguration", "ServerTestSupport", "SinkTestSupport", "TestSupport",
            "TrackingRules", "TrackingServer", "WireFormat",
        ] + service
            + libraries("HTTPTypes", "Logging", "NIOCore", "NIOEmbedded", "NIOHTTP1")),
    tests("JSONTests", ["JSON", "TestSupport", "WireFormat"]),
    tests(
        "KafkaSinkTests",
        ["CRdKafka", "KafkaSink", "SinkKit", "SinkTestSupport", "TestSupport", "TrackingRules"]
            + protos),
    tests(
        "NATSSinkTests",
        ["CNats", "NATSSink", "SightlineProtos", "SinkKit", "SinkTestSupport", "TestSupport"]),
    tests(
        "OperationsTests",
        [
            "Delivery", "FileSinks", "Operations", "Pacing", "SQLiteSink", "ServerTestSupport",
            "SinkKit", "SinkTestSupport", "TestSupport", "TrackingRules", "WireFormat",
        ] + protos + libraries("GRDB", "Logging", "ServiceLifecycle")),
    tests("PacingTests", ["Pacing", "TestSupport"]),
    tests("PayloadInspectorTests", ["JSON", "PayloadInspector", "TestSupport", "TrackingRules"]),
    tests(
        "PostgreSQLSinkTests",
        ["Pacing", "PostgreSQLSink", "SinkKit", "SinkTestSupport", "TestSupport"] + protos),
    tests(
        "SQLiteSinkTests",
        ["SQLiteSink", "SinkTestSupport", "TestSupport"] + hits + protos + sqlite),
    tests(
        "ServerConfigurationTests",
        [
            "CampaignSink", "ConfigurationKeys", "Credentials", "FileSinks", "HTTPDoor",
            "ServerConfiguration", "SinkKit", "SinkTestSupport", "Telemetry", "TestSupport",
            "TrackingJournal", "TrackingRules", "WireFormat",
        ] + protos + libraries("Logging")),
    tests(
        "SightlineClientTests",
        ["SightlineClient", "TestSupport", "sightline"] + service
            + libraries(
                "CoreMetrics", "InMemoryTracing", "MetricsTestKit", "ServiceContextModule",
                "Tracing")),
    tests(
        "SightlineCommandTests",
        [
            "DeliveryDiagnosis", "JSON", "SightlineClient", "TestSupport", "TrackingReport",
            "TrackingRules", "WireFormat", "sightline",
        ] + protos + libraries("ArgumentParser", "GRPCCore")),
    tests(
        "SightlineSinksTests",
        ["SightlineSinks", "SinkKit", "SinkTestSupport", "TestSupport", "TrackingRules"] + protos),
    tests("SimulationTests", ["SQLiteSink", "TrackingJournal", "simulate"]),
    tests("SinkKitTests", ["SinkTestSupport", "TestSupport"] + hits + protos),
    tests(
        "TelemetryTests",
        ["SinkTestSupport", "Telemetry", "TestSupport", "W3CTrace"] + service
            + libraries(
                "CoreMetrics", "Logging", "NIOHTTP1", "ServiceContextModule", "ServiceLifecycle",
                "Tracing")),
    tests("TidyTests", []),
    tests(
        "TrackingJournalTests",
        [
            "CCRC32C", "CMalloc", "DeliveryDiagnosis", "SightlineProtos", "Storage", "TestSupport",
            "TrackingJournal", "TrackingRules", "W3CTrace", "WireFormat",
        ] + libraries("GRDB")),
    tests(
        "TrackingReportTests",
        [
            "DeliveryDiagnosis", "Pacing", "SQLiteSink", "SinkKit", "TestSupport",
            "TrackingReport", "TrackingRules", "W3CTrace",
        ] + protos + libraries("GRDB")),
    tests(
        "TrackingRulesTests",
        [
            "ConfigurationKeys", "JSON", "PayloadInspector", "TestSupport", "TrackingRules",
            "W3CTrace", "WireFormat",
        ] + protos),
    tests(
        "TrackingServerTests",
        [
            "ConfigurationKeys", "Credentials", "Delivery", "HTTP2Edge", "HTTPDoor", "Operations",
            "Pacing", "ServerConfiguration", "ServerTestSupport", "SightlineClient", "SinkKit",
            "Telemetry", "TestSupport", "TrackingJournal", "TrackingRules", "TrackingServer",
            "W3CTrace",
        ] + service
            + libraries("CoreMetrics", "GRDB", "InMemoryTracing", "Logging", "NIOHPACK", "Tracing")),
    tests("W3CTraceTests", ["TestSupport", "W3CTrace"]),
    tests(
        "WebhookSinkTests",
        [
            "Delivery", "SinkKit", "SinkTestSupport", "Telemetry", "TestSupport", "TrackingRules",
            "W3CTrace", "WebhookSink",
        ] + protos + libraries("Tracing")),
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
    targets: commands + client + kit + server + edges + backends + delivery + core + base + tools
        + support + testTargets,
    swiftLanguageModes: [.v6]
)
