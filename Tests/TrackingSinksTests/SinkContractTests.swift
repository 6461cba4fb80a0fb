// The contract of sinks, tested with each of them.
internal import Foundation
internal import GRDB
internal import Glibc
internal import SQLiteSink
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingCore
internal import TrackingSinks

@testable internal import NATSSink

/// Each kind of sink, and how to read back what it has.
extension SinkKind {
    /// Those that are tested: nats only where a server was started for it, as `make test-swift`
    /// does.
    static let tested = Self.allCases.filter { $0 != .nats || NATSConfiguration.testServer != nil }
    /// Those of them that keep what they get.
    static let keeping = Self.tested.filter { $0 != .discard }

    /// Opens it on its files in `directory`.
    func open(_ directory: TemporaryDirectory) throws -> any Sink {
        switch self {
        case .sqlite: return try SQLiteSink(path: directory.file("hits.db"))
        case .jsonl: return try JSONLinesSink(directory: directory.file("lines"))
        case .stdout:
            let file = directory.file("stdout")
            let descriptor = Glibc.open(file, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            return try StandardOutputSink(descriptor: descriptor)
        case .discard: return DiscardSink()
        case .nats: return try NATSSink(.test(directory))
        }
    }

    /// The hits it has, in order.
    func readBack(_ directory: TemporaryDirectory) throws -> [ReadHit] {
        switch self {
        case .sqlite:
            return try DatabaseQueue(path: directory.file("hits.db")).read { database in
                try Row.fetchAll(
                    database, sql: "SELECT hit_id, event, traceparent FROM hits ORDER BY rowid"
                ).map { row in
                    let event = try Sightline_V1_TrackingEvent(serializedBytes: row[1] as Data)
                    return ReadHit(id: row[0], event: event, traceparent: row[2] ?? "")
                }
            }
        case .jsonl:
            return try Self.hits(ofLines: directory.file("lines/hits-000001.jsonl"))
        case .stdout: return try Self.hits(ofLines: directory.file("stdout"))
        case .discard: return []
        case .nats:
            return try TestStream(.test(directory)).messages().map { message in
                let record = try Sightline_V1_TrackingRecord(serializedBytes: message.data)
                #expect(message.hitID == record.hitID.hex)
                return ReadHit(record)
            }
        }
    }

    /// Whether a batch that is delivered twice counts once.
    var isExactlyOnce: Bool {
        switch self {
        case .sqlite, .nats: true
        case .jsonl, .stdout, .discard: false
        }
    }

    /// Whether fields that this version does not know survive.
    var keepsUnknownFields: Bool {
        switch self {
        case .sqlite, .nats: true
        case .jsonl, .stdout, .discard: false
        }
    }

    private static func hits(ofLines path: String) throws -> [ReadHit] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map { line in
            let record = try Sightline_V1_TrackingRecord(jsonString: String(line))
            return ReadHit(
                id: record.hitID, event: record.event,
                traceparent: record.traceContext.traceparent)
        }
    }
}

/// The fields of a hit that every sink stores.
struct ReadHit: Equatable {
    let id: Data
    let event: Sightline_V1_TrackingEvent
    let traceparent: String

    init(id: Data, event: Sightline_V1_TrackingEvent, traceparent: String) {
        self.id = id
        self.event = event
        self.traceparent = traceparent
    }

    init(_ record: Sightline_V1_TrackingRecord) {
        self.init(
            id: record.hitID, event: record.event, traceparent: record.traceContext.traceparent)
    }
}

@Suite("the contract of every sink")
struct SinkContractTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    /// Delivers batches, and expects exactly their hits to be read back, in order.
    private func expectHits(of batches: [HitBatch], in sink: SinkKind) async throws {
        let opened = try sink.open(self.directory)
        for batch in batches { #expect(await opened.deliver(batch) == .delivered) }
        #expect(
            try sink.readBack(self.directory)
                == batches.flatMap { try $0.records }.map(ReadHit.init))
    }

    @Test("hits come in the journal's order", arguments: SinkKind.keeping)
    func order(sink: SinkKind) async throws {
        let batches = try (0..<20).map { number in
            try TestHits.batch(
                (0..<3).map { TestEvents.full(id: 1000 - number * 3 - $0) },
                sequence: Int64(number + 1))
        }
        try await self.expectHits(of: batches, in: sink)
    }

    @Test("the sink that keeps nothing delivers every batch, and leaves nothing behind")
    func discard() async throws {
        let sink = try SinkKind.discard.open(self.directory)
        for number in 1...3 {
            let batch = try TestHits.batch([TestEvents.full(id: number)], sequence: Int64(number))
            #expect(await sink.deliver(batch) == .delivered)
        }
        #expect(sink.name == "discard")
        #expect(try FileManager.default.contentsOfDirectory(atPath: self.directory.path) == [])
    }

    @Test("a batch of many hits comes whole", arguments: SinkKind.keeping)
    func manyHits(sink: SinkKind) async throws {
        try await self.expectHits(
            of: [try TestHits.batch((1...1500).map { TestEvents.full(id: $0) })], in: sink)
    }

    @Test("joined groups come whole and in order", arguments: SinkKind.keeping)
    func joinedGroups(sink: SinkKind) async throws {
        let batches = try (1...12).map { number in
            try TestHits.batch(
                (0..<number).map { TestEvents.full(id: number * 100 + $0) },
                sequence: Int64(number))
        }
        try await self.expectHits(
            of: [
                HitBatch(joining: Array(batches[..<5])), batches[5],
                HitBatch(joining: Array(batches[6...])),
            ], in: sink)
    }

    @Test("D14: an opened notification is a click and then an open", arguments: SinkKind.keeping)
    func openedTwice(sink: SinkKind) async throws {
        let batch = try TestHits.batch([TestEvents.push(.opened, id: 1)])
        #expect(try batch.records.map(\.kind) == [.click, .open])
        try await self.expectHits(of: [batch], in: sink)
    }

    @Test("an empty batch is delivered and adds nothing", arguments: SinkKind.keeping)
    func empty(sink: SinkKind) async throws {
        try await self.expectHits(
            of: [
                HitBatch(journal: "j", sequence: 1, payload: []),
                try TestHits.batch([TestEvents.full(id: 1)], sequence: 2),
            ], in: sink)
    }

    @Test("a batch that comes again is delivered again", arguments: SinkKind.keeping)
    func sameBatch(sink: SinkKind) async throws {
        let opened = try sink.open(self.directory)
        let batch = try TestHits.batch([TestEvents.push(.opened, id: 1)])
        for _ in 0..<2 { #expect(await opened.deliver(batch) == .delivered) }
        let hits = try sink.readBack(self.directory)
        #expect(hits.count == (sink.isExactlyOnce ? 2 : 4))
        #expect(Set(hits.map(\.id)).count == 2)
    }

    @Test("a sink goes on where it was when it is opened again", arguments: SinkKind.keeping)
    func reopened(sink: SinkKind) async throws {
        for number in 1...3 {
            let opened = try sink.open(self.directory)
            let batch = try TestHits.batch(
                [TestEvents.full(id: number)], sequence: Int64(number))
            #expect(await opened.deliver(batch) == .delivered)
        }
        let hits = try sink.readBack(self.directory)
        #expect(hits.map(\.event.eventID) == ["event-1", "event-2", "event-3"])
    }

    @Test(
        "fields that this version does not know survive where the form has room for them",
        arguments: SinkKind.keeping)
    func unknownFields(sink: SinkKind) async throws {
        // Field 200, a text, behind all known ones.
        let unknown: [UInt8] = [0xc2, 0x0c, 3] + [UInt8]("new".utf8)
        let request = try TestHits.request(bytes: [
            try TestEvents.full(id: 1).serializedBytes() + unknown
        ])
        let batch = HitBatch(
            journal: "j", sequence: 1, payload: request.header + request.entries)
        #expect(try batch.records.first?.event.unknownFields.data == Data(unknown))
        let opened = try sink.open(self.directory)
        #expect(await opened.deliver(batch) == .delivered)
        let hits = try sink.readBack(self.directory)
        #expect(hits.map(\.event.eventID) == ["event-1"])
        let kept = hits.first?.event.unknownFields.data
        #expect(kept == (sink.keepsUnknownFields ? Data(unknown) : Data()))
    }

    @Test("a batch that cannot be read is told of as such, and is not taken in part")
    func unreadable() async throws {
        let events = (1...3).map { TestEvents.full(id: $0) }
        let batches = [
            HitBatch(journal: "j", sequence: 1, payload: [1, 2, 3]),
            HitBatch(try TestHits.requestFromLaterOn(events, strange: 2)),
        ]
        for sink in SinkKind.keeping {
            let opened = try sink.open(self.directory)
            for batch in batches {
                let answer = await opened.deliver(batch)
                guard case .undeliverable(let reason) = answer else {
                    Issue.record("\(sink): \(answer)")
                    continue
                }
                #expect(reason.contains("cannot be read"))
            }
            let next = try TestHits.batch([TestEvents.full(id: 9)], sequence: 2)
            #expect(await opened.deliver(next) == .delivered)
            #expect(try sink.readBack(self.directory).map(\.event.eventID) == ["event-9"])
        }
    }

    @Test("no sink waits for an event to become protobuf", arguments: SinkKind.tested)
    func brokenEvent(sink: SinkKind) async throws {
        let events = (1...3).map { TestEvents.full(id: $0) }
        let opened = try sink.open(self.directory)
        let answer = await opened.deliver(
            HitBatch(try TestHits.requestWithBrokenEvent(events, broken: 1)))
        switch answer {
        case .undeliverable: #expect(sink == .sqlite)
        case .rejected(let reasons): #expect(Array(reasons.keys) == [1])
        case .delivered: #expect(sink == .discard)
        case .unavailable, .lost: Issue.record("\(answer)")
        }
    }
}
