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
    /// The one of the nine that it is in.
    var folder: String { String(self.path.prefix { $0 != "/" }) }
    var name: String { String(self.path.split(separator: "/").last ?? "") }
    var lines: [String] {
        var lines = self.text.components(separatedBy: "\n")
        // What stands after the last newline is no line.
        if lines.last == "" { lines.removeLast() }
        return lines
    }

    /// The repository's folder.
    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The text of a file of the repository.
    static func repository(file path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    /// All of them, the generated ones only where they are asked for.
    static func all(includingGenerated: Bool = false) throws -> [SourceFile] {
        let root = Self.root.appending(path: "Sources")
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

    /// The nine folders below Sources, each with those that its modules may import from.
    static let below: [String: Set<String>] = [
        "Commands": ["Client", "Server", "Edge", "Sinks", "Delivery", "Core", "Base"],
        "Tools": ["Sinks", "Base"],
        "Client": ["Base"],
        "Server": ["Edge", "Sinks", "Delivery", "Core", "Base"],
        "Edge": ["Delivery", "Core", "Base"],
        "Sinks": ["Delivery", "Core", "Base"],
        "Delivery": ["Core", "Base"],
        "Core": ["Base"],
        "Base": [],
    ]

    /// A module of ours, and the folder that it is in.
    struct Module: Hashable {
        let name: String
        let folder: String
    }

    /// The modules with Swift files, by their names.
    static func modules(_ files: [SourceFile]) -> [String: Module] {
        Dictionary(
            files.map { ($0.module, Module(name: $0.module, folder: $0.folder)) },
            uniquingKeysWith: { first, _ in first })
    }

    /// What is called a sink of every kind.
    private static let commonSinks: Set = [
        "JournalSink", "ListedSink", "OpenedSink", "RunningSink", "SerializedSink",
    ]

    /// Imports that point up or sideways, or do not say their level.
    static func badImports(in file: SourceFile, of modules: [String: Module]) -> [Finding] {
        Self.findings(in: file) { line in
            for statement in Self.code(of: line).split(separator: ";") {
                if let problem = Self.problem(ofImport: statement, in: file, of: modules) {
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
        guard Self.server.contains(file.module), file.name != "SinkKind.swift" else {
            return []
        }
        return Self.findings(in: file) { line in
            let code = Self.code(of: line)
            if code.contains("import ") { return nil }
            let words = code.split { !$0.isLetter && !$0.isNumber }.map(String.init)
            let sink = words.first { word in
                word.hasSuffix("Sink") && word != "Sink" && word.first?.isUppercase == true
                    && !Self.commonSinks.contains(word)
            }
            return sink.map { "names \($0): give it a row in SinkKind.swift" }
        }
    }

    /// Values of a database's row that are read by a subscript: it traps where a value is NULL, or
    /// of another type than the build has written.
    static func trappingReads(in file: SourceFile) -> [Finding] {
        guard file.text.contains("import GRDB") else { return [] }
        return Self.findings(in: file) { line in
            let code = Self.code(of: line)
            let reads = code.ranges(of: "[\"").contains { range in
                let before = code[..<range.lowerBound].last
                return before.map { $0.isLetter || $0.isNumber || "_?)".contains($0) } ?? false
            }
            return reads ? "a row's value: `try row.decode(T.self, forColumn:)` throws" : nil
        }
    }

    /// Lines that are too long.
    static func longLines(of file: SourceFile) -> [Finding] {
        Self.findings(in: file) { line in
            line.count > 100 ? "\(line.count) columns, the limit is 100" : nil
        }
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

    /// Where the texts of clients are: a dictionary or a set whose keys are Swift's strings would
    /// join those that look alike.
    private static let placesOfClientTexts = [
        "Base/JSON/", "Core/", "Delivery/", "Edge/", "Sinks/", "Commands/TrackingReport/",
    ]

    /// The files there whose strings are nobody's but ours or an operator's, or ASCII by a rule,
    /// and what they are. Everything else is an `ExactText`, or bytes.
    static let stringKeys = [
        "AckWindow.swift": "the ids of hits in hex", "AddressGuard.swift": "hosts of the operator",
        "BrokerStatistics+JSON.swift": "brokers' names in librdkafka's own report",
        "CampaignConfiguration.swift": "tenants", "CheckpointStore+Contents.swift": "sinks",
        "CheckpointStore.swift": "sinks", "DeliveryAccount+Lines.swift": "our words for figures",
        "DeliveryCounts.swift": "values of flags as escaped in ASCII; our fields and rules",
        "DeliveryDiagnosis.swift": "our fields and rules", "HitStore.swift": "journals",
        "JWTKeySet.swift": "algorithms", "KafkaTopics.swift": "topics, in ASCII by Kafka's rule",
        "KeyTable.swift": "the ids of keys in hex", "KeysFile.swift": "the ids of keys in hex",
        "MessageLimits.swift": "our methods", "PageSection.swift": "words of the template",
        "ProtoDescriptors.swift": "our messages", "QuarantineFile+Room.swift": "tenants",
        "ReportPage.swift": "words of the template", "ReportSheet.swift": "columns",
        "RowErasure.swift": "the oids of tables",
        "SinkCursors.swift": "sinks", "SinkSpan.swift": "headers of W3C",
        "UpstreamMessage.swift": "names of header fields, in ASCII by HTTP's rule",
        "WebhookAnswer.swift": "the ids of hits in hex",
    ]

    /// Dictionaries and sets whose keys are Swift's strings, in files that `stringKeys` lacks.
    static func badKeys(in file: SourceFile) -> [Finding] {
        guard Self.placesOfClientTexts.contains(where: { file.path.hasPrefix($0) }),
            Self.stringKeys[file.name] == nil
        else { return [] }
        return Self.findings(in: file) { line in
            let code = Self.code(of: line)
            let kinds = ["[String: ", "[Substring: ", "Set<String>", "Set<Substring>"]
            return kinds.first { code.contains($0) }.map {
                "\($0) joins keys that look alike: use ExactText, or say in SourceRules.stringKeys "
                    + "whose keys they are"
            }
        }
    }

    private static func isFunction(_ line: String) -> Bool {
        let words = ["func ", "init(", "init?(", "deinit ", "subscript("]
        return line.split(separator: " ").contains { word in
            words.contains { "\(word) ".hasPrefix($0) }
        }
    }

    private static func problem(
        ofImport statement: Substring, in file: SourceFile, of modules: [String: Module]
    ) -> String? {
        let words = statement.split(separator: " ").map(String.init)
        guard let place = words.firstIndex(of: "import") else { return nil }
        // Words before it are its attributes and its level; anything else makes it no import.
        let before = words[..<place].filter { !$0.hasPrefix("@") }
        let levels = ["internal", "package", "public", "private", "fileprivate"]
        guard before.allSatisfy(levels.contains) else { return nil }
        // The last word holds the module also where one declaration of it is imported.
        let imported = words.last.map { String($0.prefix { $0 != "." }) } ?? ""
        // The client library's users give and get messages.
        let isPublic = file.module == "SightlineClient" && imported == "SightlineProtos"
        guard before == ["internal"] || before == ["package"] || isPublic && before == ["public"]
        else {
            return "says no access level: internal import or package import"
        }
        guard let target = modules[imported], target.folder != file.folder else { return nil }
        let isBelow = Self.below[file.folder]?.contains(target.folder) == true
        return isBelow ? nil : "\(file.folder) may not import \(imported), of \(target.folder)"
    }

    /// A line without its comment. A `//` in a string cuts too much, and hides no import.
    static func code(of line: String) -> String {
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
