// Files of lines: rotation, and what a crash leaves of a line.
internal import FileSinks
internal import Foundation
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import TestSupport
internal import Testing

struct JSONLinesSinkTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private func bytes(_ number: Int) throws -> Data {
        try LinesFile(number, in: self.directory.path).bytes
    }

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self.directory.path).sorted()
    }

    @Test(
        "a file that has reached the limit is followed by a new one; one byte below it is not",
        arguments: JSONLinesConfiguration.Compression.allCases)
    func rotation(_ compression: JSONLinesConfiguration.Compression) async throws {
        let batch = try TestHits.batch([TestEvents.full(id: 1)])
        let probe = try JSONLinesSink(
            directory: self.directory.path, .with { $0.compression = compression })
        #expect(await probe.deliver(batch) == .delivered)
        // On the disk, so compressed.
        let size = try LinesFile(1, compression, in: self.directory.path).bytes.count
        for (limit, count) in [(size, 2), (size + 1, 1)] {
            let other = try TemporaryDirectory()
            let sink = try JSONLinesSink(
                directory: other.path,
                .with { ($0.fileBytes, $0.compression) = (limit, compression) })
            for _ in 0..<2 { #expect(await sink.deliver(batch) == .delivered) }
            let names = try FileManager.default.contentsOfDirectory(atPath: other.path).sorted()
            #expect(
                names == (1...count).map { LinesFile($0, compression, in: other.path).name })
        }
    }

    @Test("the newest file is gone on with after a restart")
    func newest() async throws {
        for _ in 0..<3 {
            let sink = try JSONLinesSink(directory: self.directory.path, .with { $0.fileBytes = 1 })
            #expect(await sink.deliver(try TestHits.batch([TestEvents.full(id: 1)])) == .delivered)
        }
        #expect(try self.files() == (1...3).map { "hits-00000\($0).jsonl" })
    }

    /// Limits, in files of one batch, and the numbers that stay of ten files.
    struct Limit {
        let files: Int
        let bytes: Double
        let stay: ClosedRange<Int>
    }

    @Test(
        "the oldest full files go beyond a limit, and the newest stays",
        arguments: [
            Limit(files: 0, bytes: 0, stay: 1...10), Limit(files: 9, bytes: 0, stay: 1...10),
            Limit(files: 8, bytes: 0, stay: 2...10), Limit(files: 1, bytes: 0, stay: 9...10),
            Limit(files: 0, bytes: 3, stay: 7...10), Limit(files: 0, bytes: 2.9, stay: 8...10),
            Limit(files: 0, bytes: 0.1, stay: 9...10), Limit(files: 2, bytes: 5, stay: 8...10),
        ])
    func retention(_ limit: Limit) async throws {
        let batch = try TestHits.batch([TestEvents.full(id: 1)])
        let probe = try TemporaryDirectory()
        #expect(try await JSONLinesSink(directory: probe.path).deliver(batch) == .delivered)
        let size = try Data(contentsOf: URL(filePath: probe.file("hits-000001.jsonl"))).count
        let sink = try JSONLinesSink(
            directory: self.directory.path,
            .with {
                $0.fileBytes = 1
                $0.retainFiles = limit.files
                $0.maxBytes = Int(limit.bytes * Double(size))
            })
        for _ in 1...10 { #expect(await sink.deliver(batch) == .delivered) }
        let left = try self.files()
        #expect(left.first == String(format: "hits-%06d.jsonl", limit.stay.lowerBound))
        #expect(left.count == limit.stay.count)
    }

    @Test("files that another program has moved away do not count")
    func movedAway() async throws {
        let batch = try TestHits.batch([TestEvents.full(id: 1)])
        let sink = try JSONLinesSink(
            directory: self.directory.path,
            .with {
                $0.fileBytes = 1
                $0.retainFiles = 3
            })
        for _ in 1...4 { #expect(await sink.deliver(batch) == .delivered) }
        for number in [2, 3] {
            try FileManager.default.removeItem(
                atPath: self.directory.file("hits-00000\(number).jsonl"))
        }
        #expect(await sink.deliver(batch) == .delivered)
        #expect(try self.files() == [1, 4, 5].map { "hits-00000\($0).jsonl" })
    }

    @Test("what is in the way of a deletion stays, and holds up neither the others nor a delivery")
    func undeletable() async throws {
        let batch = try TestHits.batch([TestEvents.full(id: 1)])
        let sink = try JSONLinesSink(
            directory: self.directory.path,
            .with {
                $0.fileBytes = 1
                $0.retainFiles = 2
            })
        for _ in 1...3 { #expect(await sink.deliver(batch) == .delivered) }
        let path = self.directory.file("hits-000001.jsonl")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(
            atPath: path + "/inner", withIntermediateDirectories: true)
        for _ in 4...6 { #expect(await sink.deliver(batch) == .delivered) }
        #expect(try self.files() == [1, 4, 5, 6].map { "hits-00000\($0).jsonl" })
        #expect(FileManager.default.fileExists(atPath: path + "/inner"))
    }

    @Test(
        "a name that the sink does not give is none of its files",
        arguments: ["9223372036854775807", "-00005", "+00005", "7", "0000007", "000000"])
    func foreignName(digits: String) async throws {
        let foreign = "hits-\(digits).jsonl"
        try "x".write(
            toFile: self.directory.file(foreign), atomically: false, encoding: .utf8)
        let batch = try TestHits.batch([TestEvents.full(id: 1)])
        let sink = try JSONLinesSink(
            directory: self.directory.path,
            .with {
                $0.fileBytes = 1
                $0.retainFiles = 1
            })
        for _ in 1...3 { #expect(await sink.deliver(batch) == .delivered) }
        #expect(
            try self.files() == (["hits-000002.jsonl", "hits-000003.jsonl"] + [foreign]).sorted())
    }

    @Test("half a line is dropped at the start, whole lines stay", arguments: [0, 1, 2])
    func halfLine(wholeLines: Int) async throws {
        let path = self.directory.file("hits-000001.jsonl")
        let whole = String(repeating: "{}\n", count: wholeLines)
        // Longer than the block size of the search for the last newline.
        let half = String(repeating: "x", count: 70_000)
        try (whole + half).write(toFile: path, atomically: false, encoding: .utf8)
        let batch = try TestHits.batch([TestEvents.full(id: 1)])
        let sink = try JSONLinesSink(directory: self.directory.path)
        #expect(String(decoding: try self.bytes(1), as: UTF8.self) == whole)
        #expect(await sink.deliver(batch) == .delivered)
        let lines = String(decoding: try self.bytes(1), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == wholeLines + 1)
    }

    @Test(
        "a line is the record in proto3 JSON, and decodes back to it",
        arguments: JSONLinesConfiguration.Compression.allCases)
    func json(_ compression: JSONLinesConfiguration.Compression) async throws {
        let events = [
            TestEvents.full(id: 1), TestEvents.push(.opened, id: 2),
            TestEvents.action(.open, id: 3),
        ]
        let batch = try TestHits.batch(events, tracestate: "a=b")
        let sink = try JSONLinesSink(
            directory: self.directory.path, .with { $0.compression = compression })
        #expect(await sink.deliver(batch) == .delivered)
        let text = try LinesFile(1, compression, in: self.directory.path).text
        #expect(text.hasSuffix("\n"))
        let records = try text.split(separator: "\n").map {
            try Sightline_V1_TrackingRecord(jsonString: String($0))
        }
        #expect(try records == batch.records)
        #expect(records.first?.traceContext.tracestate == "a=b")
        #expect(records.first?.receiveTime.nanos == 123_456_000)
        #expect(records.map(\.kind) == [.impression, .click, .open, .open])
    }

    @Test("nobody but the owner can look into a directory that the sink has made")
    func mode() throws {
        let mask = umask(0)
        defer { umask(mask) }
        let directory = self.directory.file("made")
        _ = try JSONLinesSink(directory: directory)
        for file in [directory: 0o700, directory + "/hits-000001.jsonl": 0o600] {
            let attributes = try FileManager.default.attributesOfItem(atPath: file.key)
            #expect(attributes[.posixPermissions] as? Int == file.value)
        }
    }
}
