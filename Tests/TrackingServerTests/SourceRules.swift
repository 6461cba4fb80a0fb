// The rules of the project's shape, as functions over a file's text: the tests feed them the
// sources, and bad lines too.
internal import Foundation

/// A Swift file below Sources.
struct SourceFile: Sendable {
    /// Below Sources, as in `Core/TrackingCore/Hit.swift`.
    let path: String
    let text: String

    /// The folder below one of the nine, and below Base/Native that of a module in C.
    var module: String {
        let folders = self.path.split(separator: "/").dropLast()
        let depth = self.path.hasPrefix("Base/Native/") ? 2 : 1
        return String(folders.dropFirst(depth).first ?? "")
    }
    var name: String { String(self.path.split(separator: "/").last ?? "") }
    var lines: [String] {
        var lines = self.text.components(separatedBy: "\n")
        // What stands after the last newline is no line.
        if lines.last == "" { lines.removeLast() }
        return lines
    }

    /// All of them, the generated ones only where they are asked for.
    static func all(includingGenerated: Bool = false) throws -> [SourceFile] {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path())
        return
            try paths
            .filter { $0.hasSuffix(".swift") }
            .filter { includingGenerated || !$0.contains("/Generated/") }
            .sorted()
            .map { path in
                SourceFile(
                    path: path,
                    text: try String(contentsOf: root.appending(path: path), encoding: .utf8))
            }
    }
}

enum SourceRules {
    /// A breach of a rule, with its place.
    struct Finding: Equatable, CustomStringConvertible {
        let path: String
        let line: Int
        let problem: String

        var description: String { "\(self.path):\(self.line): \(self.problem)" }
    }

    private static let grpc: Set = ["GRPCCore", "GRPCProtobuf", "GRPCNIOTransportHTTP2Posix"]
    private static let tracing: Set = ["Tracing", "Instrumentation", "ServiceContextModule"]
    private static let system: Set = [
        "CoreFoundation", "Foundation", "Glibc", "Synchronization",
    ]
    private static let sink = Self.system.union([
        "SinkConfiguration", "TrackingCore", "TrackingSinks",
    ])

    /// What each module may import: what stands below it in design section 2, and its libraries.
    static let allowed: [String: Set<String>] = [
        "CCRC32C": [],
        "ConfigurationKeys": [],
        "SightlineProtos": Self.grpc.union(["SwiftProtobuf", "Foundation"]),
        "TrackingCore": ["CLibcrypto", "ConfigurationKeys"],
        "TrackingJournal": Self.system.union([
            "TrackingCore", "CCRC32C", "ConfigurationKeys", "DequeModule", "GRDB", "GRDBSQLite",
            "TrackingLedger",
        ]),
        "TrackingLedger": ["CCRC32C", "ConfigurationKeys", "TrackingCore"],
        "SinkConfiguration": Self.system.union(["ConfigurationKeys", "TrackingCore"]),
        "TrackingSinks": Self.system.union([
            "CZstd", "Dispatch", "SinkConfiguration",
            "TrackingJournal", "TrackingCore", "SightlineProtos", "SwiftProtobuf", "GRDB",
            "GRDBSQLite", "Logging", "ServiceLifecycle", "CoreMetrics",
        ]).union(Self.tracing),
        "SQLiteSink": Self.sink.union(["GRDB", "GRDBSQLite", "Logging", "TrackingJournal"]),
        "CampaignSink": Self.sink.union(["AsyncHTTPClient", "NIOCore", "NIOHTTP1", "NIOSSL"]),
        "GRPCSink": Self.sink.union(Self.grpc).union([
            "CCRC32C", "SightlineProtos", "SwiftProtobuf",
        ]),
        "KafkaSink": Self.sink.union(["CRdKafka", "Dispatch"]),
        "NATSSink": Self.sink.union(["CNats", "Dispatch"]),
        "PostgreSQLSink": Self.sink.union(["CLibpq", "Logging"]),
        "WebhookSink": Self.sink.union(Self.tracing).union([
            "AsyncHTTPClient", "Crypto", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL",
        ]),
        "SightlineSinks": Self.system.union([
            "Logging", "ServerConfiguration", "Telemetry", "TrackingCore", "TrackingServer",
            "TrackingSinks",
        ]),
        "Telemetry": Self.system.union(Self.grpc).union(Self.tracing).union([
            "AsyncHTTPClient", "CDeflate", "ConfigurationKeys", "CoreMetrics", "Logging", "NIOCore",
            "NIOHTTP1", "NIOSSL", "ServiceLifecycle", "SightlineProtos", "SwiftProtobuf",
            "TrackingCore",
        ]),
        "AdminClient": Self.system.union([
            "AdminServer", "AsyncHTTPClient", "NIOCore", "NIOHTTP1", "SightlineClient",
            "TerminalText",
        ]),
        "DevelopmentCA": Self.system.union(["Crypto", "SwiftASN1", "X509"]),
        "ServiceManager": Self.system.union(["ServiceLifecycle"]),
        "TerminalText": Self.system,
        "EventQuarantine": Self.system.union([
            "ConfigurationKeys", "GRDB", "Logging", "ServiceLifecycle", "TrackingCore",
            "TrackingJournal", "TrackingSinks",
        ]),
        "SubjectPrivacy": Self.system.union([
            "ConfigurationKeys", "GRDB", "Logging", "TrackingCore", "TrackingJournal",
            "TrackingSinks",
        ]),
        "ServerReflection": Self.system.union(Self.grpc).union([
            "SightlineProtos", "SwiftProtobuf",
        ]),
        "VerdictTap": Self.system.union([
            "ConfigurationKeys", "DequeModule", "SightlineProtos", "SwiftProtobuf", "TrackingCore",
        ]),
        "SightlineClient": Self.system.union(Self.grpc).union(Self.tracing).union([
            "CoreMetrics", "DequeModule", "Dispatch", "SightlineProtos", "SwiftProtobuf",
        ]),
        "EventFiles": Self.system.union(Self.grpc).union([
            "SightlineClient", "SightlineProtos", "SwiftProtobuf", "TerminalText", "TrackingCore",
            "TrackingLedger",
        ]),
        "SightlineBench": Self.system.union(Self.grpc).union([
            "EventFiles", "Histogram", "NIOCore", "SightlineClient", "SightlineProtos",
            "SwiftProtobuf", "TerminalText", "TrackingCore",
        ]),
        "ClientConformance": Self.system.union(Self.grpc).union([
            "NIOCore", "SightlineProtos", "SwiftProtobuf",
        ]),
        "TrackingReport": Self.system.union([
            "GRDB", "GRDBSQLite", "TerminalText", "TrackingCore", "TrackingLedger",
        ]),
        "HTTP2Edge": Self.system.union(["CInflate"]).union(Self.grpc.subtracting(["GRPCProtobuf"]))
            .union(["ConfigurationKeys", "Logging", "NIOCore", "NIOHPACK", "NIOHTTP2", "NIOSSL"]),
        "Credentials": Self.system.union(Self.grpc.subtracting(["GRPCProtobuf"])).union([
            "ConfigurationKeys", "Crypto", "CryptoExtras", "JWTKit", "Logging",
            "NIOCertificateReloading", "NIOCore", "NIOSSL", "ServiceLifecycle", "SwiftASN1",
            "TrackingCore", "X509", "Yams",
        ]),
        "AdminServer": Self.system.union([
            "ConfigurationKeys", "Crypto", "DequeModule", "EventQuarantine", "HTTPTypes",
            "Hummingbird", "HummingbirdCore", "Logging", "NIOCore", "NIOHTTPTypes",
            "ServiceLifecycle", "SightlineProtos", "SubjectPrivacy", "SwiftProtobuf", "Telemetry",
            "TrackingCore", "TrackingLedger", "TrackingSinks", "VerdictTap",
        ]),
        "ServerConfiguration": Self.system.union([
            "AdminServer", "ConfigurationKeys", "Credentials", "EventQuarantine", "HTTP2Edge",
            "Logging", "NIOCore", "RegexBuilder", "ServiceLifecycle", "SinkConfiguration",
            "SubjectPrivacy", "Telemetry", "TrackingCore", "TrackingJournal", "TrackingLedger",
            "TrackingSinks", "UnixSignals", "VerdictTap", "Yams",
        ]),
        "TrackingServer": Self.system.union(Self.grpc).union(Self.tracing).union([
            "AdminServer", "CampaignSink", "CoreMetrics", "Credentials", "DequeModule",
            "EventQuarantine", "GRPCSink", "HTTP2Edge", "KafkaSink", "Logging", "NATSSink",
            "NIOCore", "NIOHPACK", "PostgreSQLSink", "SQLiteSink", "ServerConfiguration",
            "ServerReflection", "ServiceLifecycle", "ServiceManager", "SightlineProtos",
            "SinkConfiguration", "SubjectPrivacy", "SwiftProtobuf", "Telemetry", "TrackingCore",
            "TrackingJournal",
            "TrackingLedger", "TrackingSinks", "UnixSignals", "VerdictTap", "WebhookSink", "X509",
        ]),
        "sightline": Self.system.union(Self.grpc).union(Self.tracing).union([
            "AdminClient", "AdminServer", "ArgumentParser", "CMalloc", "ClientConformance",
            "ConfigurationKeys", "Credentials", "DevelopmentCA", "EventFiles", "EventQuarantine",
            "GRDB", "GRPCSink", "Logging", "SQLiteSink", "ServerConfiguration",
            "ServiceLifecycle", "SightlineBench", "SightlineClient", "SightlineProtos",
            "SinkConfiguration", "SubjectPrivacy", "SwiftProtobuf", "Telemetry", "TerminalText",
            "TrackingCore", "TrackingJournal", "TrackingLedger", "TrackingReport", "TrackingServer",
            "TrackingSinks",
        ]),
    ]

    /// What is called a sink of every kind.
    private static let commonSinks: Set = [
        "JournalSink", "ListedSink", "RunningSink", "SharedSink",
    ]

    /// Imports that point up or sideways, or do not say their level.
    static func badImports(in file: SourceFile) -> [Finding] {
        Self.findings(in: file) { line in
            for statement in Self.code(of: line).split(separator: ";") {
                if let problem = Self.problem(ofImport: statement, module: file.module) {
                    return problem
                }
            }
            return nil
        }
    }

    /// The modules that every event, or the server around it, passes through.
    private static let server: Set = [
        "AdminServer", "Credentials", "HTTP2Edge", "ServerConfiguration", "TrackingServer",
    ]

    /// Concrete sinks that the server names outside of its wiring.
    static func namedSinks(in file: SourceFile) -> [Finding] {
        guard Self.server.contains(file.module), file.name != "SinkFactory.swift" else {
            return []
        }
        return Self.findings(in: file) { line in
            let words = Self.code(of: line).split { !$0.isLetter && !$0.isNumber }.map(String.init)
            let sink = words.first { word in
                word.hasSuffix("Sink") && word != "Sink" && word.first?.isUppercase == true
                    && !Self.commonSinks.contains(word)
            }
            return sink.map { "names \($0): wire it in SinkFactory.swift" }
        }
    }

    /// A file that is too long, and lines that are.
    static func longParts(of file: SourceFile) -> [Finding] {
        var findings = Self.findings(in: file) { line in
            line.count > 100 ? "\(line.count) columns, the limit is 100" : nil
        }
        let count = file.lines.count
        if count > 300 {
            findings.append(
                Finding(path: file.path, line: count, problem: "\(count) lines, the limit is 300"))
        }
        return findings
    }

    /// Functions that are too long. As our sources are formatted, a body ends with the first brace
    /// that stands as far left as its function.
    static func longFunctions(in file: SourceFile) -> [Finding] {
        let lines = file.lines
        return lines.indices.compactMap { start in
            guard Self.isFunction(lines[start]) else { return nil }
            let margin = lines[start].prefix { $0 == " " }
            // A requirement of a protocol has no body.
            let heading = lines[start...].firstIndex {
                $0.hasSuffix("{") || $0.hasSuffix("}") || $0 == margin + ")"
            }
            guard let heading, lines[heading].hasSuffix("{"),
                let end = lines[heading...].firstIndex(of: margin + "}"), end - start >= 70
            else { return nil }
            return Finding(
                path: file.path, line: start + 1,
                problem: "a function of \(end - start + 1) lines, the limit is 70")
        }
    }

    private static func isFunction(_ line: String) -> Bool {
        let words = ["func ", "init(", "init?(", "deinit ", "subscript("]
        return line.split(separator: " ").contains { word in
            words.contains { "\(word) ".hasPrefix($0) }
        }
    }

    /// Modules that nobody reads in one go, with their files and lines.
    static func largeModules(_ files: [SourceFile]) -> [String] {
        let modules = Dictionary(grouping: files, by: \.module)
        var large: [String] = []
        for (module, files) in modules.sorted(by: { $0.key < $1.key })
        where module != "TrackingCore" {
            let lines = files.reduce(0) { $0 + $1.lines.count }
            if files.count > 70 || lines > 4500 {
                large.append("\(module): \(files.count) files, \(lines) lines")
            }
        }
        return large
    }

    private static func problem(ofImport statement: Substring, module: String) -> String? {
        let words = statement.split(separator: " ").map(String.init)
        guard let place = words.firstIndex(of: "import") else { return nil }
        // Words before it are its attributes and its level; anything else makes it no import.
        let before = words[..<place].filter { !$0.hasPrefix("@") }
        let levels = ["internal", "package", "public", "private", "fileprivate"]
        guard before.allSatisfy(levels.contains) else { return nil }
        // The last word holds the module also where one declaration of it is imported.
        let imported = words.last.map { String($0.prefix { $0 != "." }) } ?? ""
        // The client library's users give and get messages.
        let isPublic = module == "SightlineClient" && imported == "SightlineProtos"
        guard before == ["internal"] || before == ["package"] || isPublic && before == ["public"]
        else {
            return "says no access level: internal import or package import"
        }
        guard let allowed = Self.allowed[module] else { return "\(module) has no row in the table" }
        return allowed.contains(imported) ? nil : "\(module) may not import \(imported)"
    }

    /// A line without its comment. A `//` in a string cuts too much, and hides no import.
    private static func code(of line: String) -> String {
        line.range(of: "//").map { String(line[..<$0.lowerBound]) } ?? line
    }

    private static func findings(
        in file: SourceFile, problem: (String) -> String?
    ) -> [Finding] {
        file.lines.enumerated().compactMap { index, line in
            problem(line).map { Finding(path: file.path, line: index + 1, problem: $0) }
        }
    }
}
