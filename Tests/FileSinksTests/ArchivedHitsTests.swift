// Files of lines, read back for a replay.
@testable internal import FileSinks
internal import Foundation
internal import SightlineProtos
@testable internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import WireFormat

struct ArchivedHitsTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory(.memory) }

    private var path: String { self.directory.file("archive.jsonl") }

    private func write(_ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: self.path))
    }

    private func lines(_ hits: HitBatch) throws -> String {
        var lines = try JSONLines()
        _ = try lines.encode(hits)
        return lines.bytes.text
    }

    /// The pages of a file, as batches.
    private func pages(_ path: String) async throws -> [(hits: HitBatch, unreadable: Int)] {
        let archive = try ArchivedHits(path: path)
        var pages: [(hits: HitBatch, unreadable: Int)] = []
        while let page = try await archive.page() {
            pages.append(
                (
                    HitBatch(journal: "replay-1", sequence: page.last, payload: page.payload),
                    page.unreadable
                ))
        }
        return pages
    }

    @Test(
        "what the sink has written comes back hit by hit, plain and compressed",
        arguments: JSONLinesConfiguration.Compression.allCases)
    func roundTrip(_ compression: JSONLinesConfiguration.Compression) async throws {
        let configuration = JSONLinesConfiguration.with { $0.compression = compression }
        let sink = try JSONLinesSink(directory: self.directory.path, configuration)
        var sent: [Sightline_V1_TrackingRecord] = []
        for number in 0..<3 {
            let hits = try TestHits.batch(
                (1...800).map { TestEvents.full(id: number * 1000 + $0) } + [
                    TestEvents.push(.opened, id: number),
                    TestEvents.action(.button2, id: number, product: .standard),
                ], sequence: Int64(number + 1), tracestate: "a=b", tenant: "acme")
            #expect(await sink.deliver(hits) == .delivered)
            sent += try hits.records
        }
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: self.directory.path).first)
        let pages = try await self.pages(self.directory.file(name))
        #expect(try pages.flatMap { try $0.hits.records } == sent)
        #expect(pages.allSatisfy { $0.unreadable == 0 && $0.hits.hitCount <= 1000 })
        #expect(pages.count > 1)
    }

    @Test("lines that are no hits are counted; an end without a line's end, and empty lines, not")
    func unreadable() async throws {
        let hits = try TestHits.batch([TestEvents.full(id: 1)])
        let line = try self.lines(hits)
        for (text, count, unreadable) in [
            ("", 0, 0), ("\n\n", 0, 0), (line, 1, 0), (String(line.dropLast()), 1, 0),
            ("no\n{}\n\n" + line, 1, 2), (line + "{\"hitId\":\"AA", 1, 0),
            ("no\n", 0, 1),
        ] {
            try self.write(text)
            let pages = try await self.pages(self.path)
            #expect(pages.map(\.hits.hitCount).reduce(0, +) == count, "\(text)")
            #expect(pages.map(\.unreadable).reduce(0, +) == unreadable, "\(text)")
        }
    }

    @Test("a line of the limit is read, and one byte more is an error that names the file")
    func longLines() async throws {
        let limit = ArchivedHits.maxLineBytes
        try self.write(String(repeating: "x", count: limit) + "\n")
        #expect(try await self.pages(self.path).map(\.unreadable) == [1])
        try self.write(String(repeating: "x", count: limit + 1) + "\n")
        let error = await #expect(throws: ArchiveError.self) {
            _ = try await self.pages(self.path)
        }
        #expect(error?.description.contains("archive.jsonl cannot be read") == true)
    }

    @Test("a page has at most 1000 lines and ends at 1 MiB, whatever is in them")
    func pageBounds() async throws {
        let long = String(repeating: "x", count: 600 << 10) + "\n"
        for (text, unreadable) in [
            (String(repeating: "\n", count: 2500), [0, 0, 0]),
            (String(repeating: "no\n", count: 2500), [1000, 1000, 500]),
            (long + long + long, [2, 1]),
        ] {
            try self.write(text)
            #expect(try await self.pages(self.path).map(\.unreadable) == unreadable)
        }
    }

    private func compress(_ texts: [String], to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let writer = try ZstdWriter(level: 3)
        for text in texts {
            _ = try Array(text.utf8).withUnsafeBytes { try writer.write($0, to: descriptor) }
        }
    }

    @Test("a compressed file that ends within a frame is an error, and one behind a frame is not")
    func cutFrames() async throws {
        let path = self.directory.file("archive.jsonl.zst")
        let lines = [
            try self.lines(try TestHits.batch([TestEvents.full(id: 1)])),
            try self.lines(try TestHits.batch([TestEvents.full(id: 2)])),
        ]
        try self.compress([lines[0]], to: path)
        let first = try Data(contentsOf: URL(filePath: path)).count
        try self.compress(lines, to: path)
        let whole = try Data(contentsOf: URL(filePath: path))
        for size in 0...whole.count {
            try whole.prefix(size).write(to: URL(filePath: path))
            if [0, first, whole.count].contains(size) {
                let hits = size == 0 ? 0 : size == first ? 1 : 2
                #expect(try await self.pages(path).map(\.hits.hitCount).reduce(0, +) == hits)
                continue
            }
            let error = await #expect(throws: ArchiveError.self) { _ = try await self.pages(path) }
            #expect(error?.description.contains("\(path) cannot be read: it is cut") == true)
        }
    }

    @Test("a frame whose text fills the pieces that are read exactly is whole")
    func fullPieces() async throws {
        let path = self.directory.file("archive.jsonl.zst")
        for count in [128 << 10, 256 << 10] {
            try self.compress([String(repeating: "\n", count: count)], to: path)
            #expect(try await self.pages(path).allSatisfy { $0.unreadable == 0 })
        }
    }

    @Test("what comes after the file was opened is not read")
    func appended() async throws {
        let line = try self.lines(try TestHits.batch([TestEvents.full(id: 1)]))
        try self.write(line)
        let archive = try ArchivedHits(path: self.path)
        try self.write(line + line)
        #expect(try await archive.page()?.unreadable == 0)
        #expect(try await archive.page() == nil)
    }

    @Test("a file that is missing, or is none, or is not compressed is an error", arguments: 0...2)
    func errors(_ row: Int) async throws {
        let path = [
            self.directory.file("missing.jsonl"), self.directory.path,
            self.directory.file("plain.zst"),
        ][row]
        if row == 2 { try Data("no frame".utf8).write(to: URL(filePath: path)) }
        let error = await #expect(throws: ArchiveError.self) { _ = try await self.pages(path) }
        #expect(error?.description.contains(path) == true)
    }
}
