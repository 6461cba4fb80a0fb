// The shape of the sources: imports point down the floor plan, lines and functions are short, and
// one place wires.
internal import Foundation
internal import Testing

@Suite("TidyTests")
struct TidyTests {
    @Test("no module imports from a folder above its own, and each import has its level")
    func imports() throws {
        let files = try SourceFile.all()
        #expect(files.count > 50, "the sources are not where the test looks for them")
        let modules = SourceRules.modules(files)
        #expect(files.flatMap { SourceRules.badImports(in: $0, of: modules) } == [])
    }

    @Test("there are nine folders, and none below them is deeper than three")
    func folders() throws {
        let files = try SourceFile.all(includingGenerated: true)
        #expect(Set(files.map(\.folder)) == Set(SourceRules.below.keys))
        #expect(files.map(\.path).filter { $0.split(separator: "/").count > 4 } == [])
    }

    @Test("the floor plan of docs/architecture.md is that of the folders, and of Package.swift")
    func floorPlan() throws {
        let drawn = try FloorPlan(drawnIn: SourceFile.repository(file: "docs/architecture.md"))
        #expect(drawn.modules.count > 30, "the picture is not where the test looks for it")
        let sources = try SourceFile.all(includingGenerated: true)
        #expect(drawn == FloorPlan(of: sources))
        #expect(drawn == FloorPlan(builtBy: try SourceFile.repository(file: "Package.swift")))
    }

    @Test("only SinkKind.swift knows the concrete sinks")
    func sinks() throws {
        #expect(try SourceFile.all().flatMap { SourceRules.namedSinks(in: $0) } == [])
    }

    @Test("a client over HTTP has the TLS settings of HTTPClients, or speaks to a socket of ours")
    func httpClients() throws {
        let files = try SourceFile.all()
        let clients = files.filter { $0.text.contains("= HTTPClient.Configuration(") }
        #expect(clients.count == 5)
        #expect(
            clients.filter { !$0.text.contains("TLSConfiguration.outbound(") }.map(\.name)
                == ["AdminSocketClient.swift"])
        #expect(
            files.filter { $0.text.contains("makeClientConfiguration(") }.map(\.name)
                == ["TLSConfiguration+Outbound.swift"])
    }

    @Test("no line of ours has more than 100 columns")
    func lineLengths() throws {
        #expect(try SourceFile.all().flatMap { SourceRules.longLines(of: $0) } == [])
    }

    @Test("no function of ours is longer than 70 lines")
    func functionLengths() throws {
        #expect(try SourceFile.all().flatMap { SourceRules.longFunctions(in: $0) } == [])
    }

    @Test("no value of a database's row is read by its column's name in a way that traps")
    func trappingReads() throws {
        #expect(try SourceFile.all().flatMap { SourceRules.trappingReads(in: $0) } == [])
    }

    @Test("no loop goes round again after a failure without a wait, but for those listed")
    func retries() throws {
        let found = try SourceFile.all().flatMap { SourceRules.hastyRetries(in: $0) }
        let branches = found.map { "\($0.path): \($0.problem)" }
        #expect(branches.filter { SourceRules.endedRetries[$0] == nil } == [])
        #expect(
            SourceRules.endedRetries.keys.filter { !branches.contains($0) } == [],
            "these have gone, or wait by now")
    }

    @Test("what is deleted by its age is so by the retention clock, but for comparisons listed")
    func ages() throws {
        let found = try SourceFile.all().flatMap { SourceRules.comparedTimes(in: $0) }
        #expect(
            found.filter { !SourceRules.isHarmless($0) } == [],
            "ask RetentionTime.isOver, or list it with its reason in AgeRules.swift")
        for (path, texts) in SourceRules.harmlessComparisons {
            let lines = found.filter { $0.path == path }.map(\.problem)
            let gone = texts.keys.filter { text in !lines.contains { $0.hasPrefix(text) } }
            #expect(gone == [], "these have gone from \(path)")
        }
    }

    @Test("texts of clients are no keys as Swift's strings, which join those that look alike")
    func stringKeys() throws {
        let files = try SourceFile.all()
        #expect(files.flatMap { SourceRules.badKeys(in: $0) } == [])
        let names = Set(files.map(\.name))
        #expect(SourceRules.stringKeys.keys.filter { !names.contains($0) } == [])
    }

    // MARK: The rules can fail

    @Test("a module that is missing in the picture, or drawn elsewhere, is found")
    func wrongPicture() {
        let picture = "```\nCore   what it means\n  Rules   events\nBase\n  JSON   text\n```\n"
        let right = FloorPlan(modules: ["Core/Rules", "Base/JSON"])
        #expect(FloorPlan(drawnIn: "text\n```\na ─▶ b\n```\n" + picture) == right)
        let manifest = "module(\"Core/Rules\"), path: \"Sources/Base/JSON\""
        #expect(FloorPlan(builtBy: manifest) == right)
        for other in [["Core/Rules"], ["Core/Rules", "Core/JSON"]] {
            #expect(FloorPlan(drawnIn: picture) != FloorPlan(modules: Set(other)))
        }
    }

    @Test(
        "a function of one line too many is found",
        arguments: [
            ("func a() {", 68, 0), ("func a() {", 69, 1), ("func a(", 66, 0), ("func a(", 67, 1),
            ("private static func a<B>() -> C {", 69, 1), ("init?(_ a: Int) {", 69, 1),
            ("@concurrent func a() {", 69, 1), ("func a()", 69, 0), ("let a = {", 69, 0),
            ("func a() { b() }", 69, 0),
        ])
    func longFunction(heading: String, lines: Int, count: Int) {
        let rest = heading.hasSuffix("(") ? "        b: Int\n    ) {\n" : ""
        let text =
            "    \(heading)\n\(rest)" + String(repeating: "        b()\n", count: lines) + "    }\n"
        let file = SourceFile(path: "Base/Telemetry/A.swift", text: text)
        #expect(SourceRules.longFunctions(in: file).count == count)
    }

    private static let modules: [String: SourceRules.Module] = Dictionary(
        uniqueKeysWithValues: [
            ("sightline", "Commands"), ("SightlineClient", "Client"),
            ("ClientConformance", "Tools"), ("TrackingServer", "Server"),
            ("ServerConfiguration", "Server"), ("HTTP2Edge", "Edge"), ("Credentials", "Edge"),
            ("NATSSink", "Sinks"), ("SQLiteSink", "Sinks"), ("Delivery", "Delivery"),
            ("TrackingJournal", "Core"), ("TrackingRules", "Core"), ("JSON", "Base"),
            ("SightlineProtos", "Base"),
        ].map { ($0, SourceRules.Module(name: $0, folder: $1)) })

    private static func findings(_ module: String, _ line: String) -> [SourceRules.Finding] {
        let folder = Self.modules[module]?.folder ?? ""
        let file = SourceFile(
            path: "\(folder)/\(module)/File.swift", text: "let value = 1\n\(line)\n")
        return SourceRules.badImports(in: file, of: Self.modules)
    }

    @Test(
        "a bad import is found",
        arguments: [
            ("JSON", "internal import TrackingRules"),
            ("TrackingRules", "internal import Delivery"),
            ("TrackingJournal", "package import Delivery"),
            ("Delivery", "internal import TrackingServer"),
            ("Delivery", "internal import SightlineClient"),
            ("Delivery", "internal import SQLiteSink"),
            ("NATSSink", "internal import TrackingServer"),
            ("SightlineClient", "internal import TrackingJournal"),
            ("SightlineClient", "public import SwiftProtobuf"),
            ("TrackingServer", "internal import SightlineClient"),
            ("ClientConformance", "internal import TrackingRules"),
            ("HTTP2Edge", "internal import TrackingServer"),
            ("HTTP2Edge", "internal import NATSSink"),
            ("Credentials", "internal import ServerConfiguration"),
            ("TrackingRules", "import JSON"),
            ("TrackingRules", "public import JSON"),
            ("TrackingRules", "@testable internal import Delivery"),
            ("TrackingRules", "  @_exported import JSON"),
            ("TrackingRules", "internal import struct Delivery.Forwarder"),
            ("TrackingRules", "internal import JSON; internal import Delivery.Forwarder"),
        ])
    func badImport(_ module: String, _ line: String) {
        #expect(Self.findings(module, line).map(\.line) == [2])
    }

    @Test(
        "a good import is not",
        arguments: [
            ("TrackingRules", "internal import JSON"),
            ("TrackingRules", "// import Delivery would be a circle"),
            ("TrackingRules", "let important = 1"),
            ("TrackingJournal", "package import TrackingRules"),
            ("TrackingServer", "internal import NATSSink"),
            ("TrackingServer", "internal import ServerConfiguration"),
            ("SightlineClient", "public import SightlineProtos"),
            ("sightline", "internal import TrackingServer"),
        ])
    func goodImport(_ module: String, _ line: String) {
        #expect(Self.findings(module, line) == [])
    }

    @Test(
        "a sink's name is found outside of SinkKind.swift",
        arguments: [
            ("Server/TrackingServer/Ingest.swift", "let sink = DiscardSink()", 1),
            ("Server/TrackingServer/Ingest.swift", "if sink is SQLiteSink {}", 1),
            ("Edge/AdminServer/AdminRoutes.swift", "if sink is SQLiteSink {}", 1),
            ("Server/ServerConfiguration/Reloader.swift", "let sink = S3Sink()", 1),
            ("Server/TrackingServer/Ingest.swift", "let sink: any Sink = RunningSink()", 0),
            ("Server/ServerConfiguration/SinkKind.swift", "let sink = DiscardSink()", 0),
            ("Server/TrackingServer/Application.swift", "let sink = DiscardSink()", 1),
            ("Sinks/FileSinks/DiscardSink.swift", "struct DiscardSink: Sink {}", 0),
            ("Server/TrackingServer/Ingest.swift", "// as SQLiteSink does", 0),
        ])
    func sinkName(_ path: String, _ line: String, _ count: Int) {
        let found = SourceRules.namedSinks(in: SourceFile(path: path, text: line))
        #expect(found.count == count)
    }

    @Test(
        "a read that traps is found",
        arguments: [
            (#"self.tenant = row["tenant"]"#, 1), (#"let id: Int64? = rows.first?["id"]"#, 1),
            (#"rows.map { $0["id"] }"#, 1), (#"try row.decode(String.self, forColumn: "a")"#, 0),
            (#"arguments: ["id": id]"#, 0), (#"// as row["id"] does"#, 0),
        ])
    func trappingRead(_ line: String, _ count: Int) {
        for (text, expected) in [("internal import GRDB\n", count), ("", 0)] {
            let file = SourceFile(path: "Commands/TrackingReport/A.swift", text: text + line)
            #expect(SourceRules.trappingReads(in: file).count == expected)
        }
    }

    @Test(
        "a retry without a wait is found",
        arguments: [
            // As the forwarder was: a faulty backend made it log 480 losses in a second.
            ("while let next = try await self.next() {", ["case .lost:", "    self.rewind()"], 1),
            ("while true {", ["case .lost:", "    // wait(", "    self.rewind()"], 1),
            ("while true {", ["case .lost: break"], 1),
            ("again: while true {", ["case .failed(let reason): self.note(reason)"], 1),
            ("repeat {", ["case .delivered,", "    .unavailable:", "    self.count += 1"], 1),
            ("for await next in self.all {", ["case .unavailable:", "    self.count += 1"], 1),
            ("while true {", ["do {", "    return try read()", "} catch {", "    log()", "}"], 1),
            ("while true {", ["case .lost:", "    guard await wait() else { return }"], 0),
            ("while true {", ["case .unavailable(let reason): return .stopped"], 0),
            ("while true {", ["case .unavailable(let reason):", "    throw Failure(reason)"], 0),
            ("while true {", ["case .lost: break again"], 0),
            ("while true {", ["case .delivered:", "    self.count += 1"], 0),
            ("while true {", ["do {", "    try read()", "} catch {", "    break", "}"], 0),
            ("while true {", ["case .lost: self.rewind()", "try await sleep(for: pause)"], 0),
            ("for attempt in 0..<3 {", ["case .lost: self.rewind()"], 0),
        ])
    func hastyRetry(_ heading: String, _ body: [String], _ count: Int) {
        let lines = ["    " + heading] + body.map { "        " + $0 } + ["    }", ""]
        let file = SourceFile(
            path: "Delivery/Delivery/A.swift", text: lines.joined(separator: "\n"))
        #expect(SourceRules.hastyRetries(in: file).count == count)
    }

    @Test(
        "a comparison with a time beside a delete is found",
        arguments: [
            // As the ledger and the index of facts were: a clock 91 days ahead emptied both.
            ("var kept = rows.filter { $0.hour >= oldest }\nself.rebuild(kept)", 1),
            ("guard run.lastDay < today - days else { continue }\ntry self.retire(run)", 1),
            ("sql: \"DELETE FROM events WHERE receive_time <= ?\"", 1),
            ("if letter.refusedTime\n    < limit { letters.removeAll() }", 1),
            ("while .now > end { unlink(path) }", 1),
            ("if now.isOver(run.lastDay, keeping: days) { try self.retire(run) }", 0),
            ("if rows.count > limit { rows.removeFirst() }", 0),
            ("if hour >= oldest { count += 1 }", 0),
            ("if hour >= oldest { count = rows.dropFirst().count }", 0),
            ("// if day < today\nself.remove(day)", 0),
        ])
    func comparedTime(_ text: String, _ count: Int) {
        for (folder, expected) in [("Core/TrackingJournal", count), ("Commands/sightline", 0)] {
            let file = SourceFile(path: folder + "/A.swift", text: text + "\n")
            #expect(SourceRules.comparedTimes(in: file).count == expected)
        }
    }

    @Test(
        "keys that are Swift's strings are found, where they may be a client's",
        arguments: [
            ("Core/TrackingRules/A.swift", "var names: [String: Int] = [:]", 1),
            ("Sinks/SQLiteSink/A.swift", "let apps: Set<String>", 1),
            ("Commands/TrackingReport/A.swift", "let places: [Int: [Substring: Int]]", 1),
            ("Core/TrackingRules/A.swift", "var names: [ExactText: Int] = [:]", 0),
            ("Core/TrackingRules/A.swift", "// no [String: Int]", 0),
            ("Core/TrackingJournal/SinkCursors.swift", "var sinks: [String: Int]", 0),
            ("Commands/sightline/A.swift", "let counts: [String: Int]", 0),
        ])
    func stringKey(_ path: String, _ line: String, _ count: Int) {
        let found = SourceRules.badKeys(in: SourceFile(path: path, text: line))
        #expect(found.count == count)
    }

    @Test("a line of 101 columns is found, and none of 100")
    func tooLong() {
        func findings(_ text: String) -> [Int] {
            SourceRules.longLines(of: SourceFile(path: "Core/TrackingRules/File.swift", text: text))
                .map(\.line)
        }
        #expect(findings(String(repeating: "ä", count: 100)) == [])
        #expect(findings("\n" + String(repeating: "ä", count: 101)) == [2])
    }
}
