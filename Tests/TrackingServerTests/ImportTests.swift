// The arrow of design section 2: a module imports only what stands below it. And the shape of the
// source: small files, short lines, one place that wires.
internal import Foundation
internal import Testing

@Suite("TidyTests")
struct TidyTests {
    @Test("no module imports what stands above it or beside it, and each import has its level")
    func imports() throws {
        let files = try SourceFile.all()
        #expect(files.count > 50, "the sources are not where the test looks for them")
        #expect(files.flatMap { SourceRules.badImports(in: $0) } == [])
    }

    @Test("every module below Sources has its row in the table")
    func modules() throws {
        let modules = Set(try SourceFile.all(includingGenerated: true).map(\.module))
        #expect(modules.subtracting(SourceRules.allowed.keys) == [])
    }

    @Test("only SinkFactory.swift knows the concrete sinks")
    func sinks() throws {
        #expect(try SourceFile.all().flatMap { SourceRules.namedSinks(in: $0) } == [])
    }

    @Test("no file of ours is longer than 300 lines, and no line than 100 columns")
    func lengths() throws {
        #expect(try SourceFile.all().flatMap { SourceRules.longParts(of: $0) } == [])
    }

    @Test("no function of ours is longer than 70 lines")
    func functionLengths() throws {
        #expect(try SourceFile.all().flatMap { SourceRules.longFunctions(in: $0) } == [])
    }

    @Test("no module but TrackingCore has more than 70 files, or 4,500 lines")
    func moduleSizes() throws {
        #expect(SourceRules.largeModules(try SourceFile.all()) == [])
    }

    // MARK: The rules can fail

    @Test(
        "a module of one file or one line too many is found",
        arguments: [(70, 1, 0), (71, 1, 1), (1, 4500, 0), (1, 4501, 1)])
    func largeModule(files: Int, lines: Int, count: Int) {
        let text = String(repeating: "\n", count: lines)
        let all = (0..<files).map { SourceFile(path: "Base/Telemetry/\($0).swift", text: text) }
        #expect(SourceRules.largeModules(all).count == count)
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

    @Test(
        "a bad import is found",
        arguments: [
            ("TrackingCore", "internal import Foundation"),
            ("TrackingCore", "internal import SightlineProtos"),
            ("ConfigurationKeys", "internal import TrackingCore"),
            ("TrackingJournal", "internal import SwiftProtobuf"),
            ("TrackingJournal", "package import TrackingSinks"),
            ("TrackingSinks", "internal import TrackingServer"),
            ("TrackingSinks", "internal import SightlineClient"),
            ("TrackingSinks", "internal import NATSSink"),
            ("TrackingSinks", "internal import SQLiteSink"),
            ("NATSSink", "internal import TrackingServer"),
            ("TrackingSinks", "internal import WebhookSink"),
            ("WebhookSink", "internal import TrackingServer"),
            ("TrackingSinks", "internal import GRPCSink"),
            ("GRPCSink", "internal import SightlineClient"),
            ("SightlineClient", "internal import TrackingJournal"),
            ("SightlineClient", "internal import EventFiles"),
            ("SightlineClient", "internal import TrackingCore"),
            ("SightlineClient", "public import SwiftProtobuf"),
            ("EventFiles", "public import SightlineProtos"),
            ("TrackingReport", "internal import SightlineClient"),
            ("TrackingServer", "internal import SightlineClient"),
            ("TrackingServer", "internal import GRDB"),
            ("HTTP2Edge", "internal import TrackingServer"),
            ("HTTP2Edge", "internal import SightlineProtos"),
            ("HTTP2Edge", "internal import Credentials"),
            ("Credentials", "internal import ServerConfiguration"),
            ("AdminServer", "internal import ServerConfiguration"),
            ("ServerConfiguration", "internal import TrackingServer"),
            ("TrackingCore", "import CLibcrypto"),
            ("TrackingCore", "public import CLibcrypto"),
            ("TrackingCore", "@testable internal import TrackingJournal"),
            ("TrackingCore", "  @_exported import CLibcrypto"),
            ("TrackingCore", "internal import struct Foundation.Data"),
            ("TrackingCore", "internal import CLibcrypto.Insecure; internal import Glibc"),
            ("Unknown", "internal import CLibcrypto"),
        ])
    func badImport(_ module: String, _ line: String) {
        let file = SourceFile(path: "Folder/\(module)/File.swift", text: "let value = 1\n\(line)\n")
        #expect(SourceRules.badImports(in: file).map(\.line) == [2])
    }

    @Test(
        "a good import is not",
        arguments: [
            ("TrackingCore", "internal import CLibcrypto"),
            ("TrackingCore", "// import Foundation would be slow"),
            ("TrackingCore", "let important = 1"),
            ("TrackingJournal", "package import TrackingCore"),
            ("TrackingServer", "internal import TrackingSinks"),
            ("SightlineClient", "public import SightlineProtos"),
            ("sightline", "internal import TrackingServer"),
        ])
    func goodImport(_ module: String, _ line: String) {
        let file = SourceFile(path: "Folder/\(module)/File.swift", text: line)
        #expect(SourceRules.badImports(in: file) == [])
    }

    @Test(
        "a sink's name is found outside of SinkFactory.swift",
        arguments: [
            ("Server/TrackingServer/Ingest.swift", "let sink = DiscardSink()", 1),
            ("Server/TrackingServer/Ingest.swift", "if sink is SQLiteSink {}", 1),
            ("Edge/AdminServer/AdminRoutes.swift", "if sink is SQLiteSink {}", 1),
            ("Server/ServerConfiguration/Reloader.swift", "let sink = S3Sink()", 1),
            ("Server/TrackingServer/Ingest.swift", "let sink: any Sink = RunningSink()", 0),
            ("Server/TrackingServer/SinkFactory.swift", "let sink = DiscardSink()", 0),
            ("Server/TrackingServer/Application.swift", "let sink = DiscardSink()", 1),
            ("Delivery/TrackingSinks/DiscardSink.swift", "struct DiscardSink: Sink {}", 0),
            ("Server/TrackingServer/Ingest.swift", "// as SQLiteSink does", 0),
        ])
    func sinkName(_ path: String, _ line: String, _ count: Int) {
        let found = SourceRules.namedSinks(in: SourceFile(path: path, text: line))
        #expect(found.count == count)
    }

    @Test("a file of 301 lines and a line of 101 columns are found, and none below")
    func tooLong() {
        func findings(_ text: String) -> [Int] {
            SourceRules.longParts(of: SourceFile(path: "Core/TrackingCore/File.swift", text: text))
                .map(\.line)
        }
        #expect(findings(String(repeating: "\n", count: 300)) == [])
        #expect(findings(String(repeating: "\n", count: 301)) == [301])
        #expect(findings(String(repeating: "ä", count: 100)) == [])
        #expect(findings("\n" + String(repeating: "ä", count: 101)) == [2])
    }
}
