// The contract of sinks, tested with each of them.
internal import Delivery
internal import Foundation
internal import ServerConfiguration
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import TestSupport
internal import Testing

@Suite("the contract of every sink")
struct SinkContractTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    /// Delivers batches, and expects exactly their hits to be read back, in order.
    private func expectHits(of batches: [HitBatch], in sink: TestedSink) async throws {
        let opened = try await sink.open(self.directory)
        for batch in batches { #expect(await opened.deliver(batch) == .delivered) }
        #expect(
            try sink.readBack(self.directory)
                == batches.flatMap { try $0.records }.map(sink.kept))
    }

    @Test("hits come in the journal's order", arguments: TestedSink.keeping)
    func order(sink: TestedSink) async throws {
        let batches = try (0..<20).map { number in
            let first = 1000 - number * 3
            return try TestHits.batch(
                [first, first - 1, first - 2].map { TestEvents.full(id: $0) },
                sequence: Int64(number + 1))
        }
        try await self.expectHits(of: batches, in: sink)
    }

    @Test("the sink that keeps nothing delivers every batch, and leaves nothing behind")
    func discard() async throws {
        let sink = try await TestedSink(kind: .discard).open(self.directory)
        for number in 1...3 {
            let batch = try TestHits.batch([TestEvents.full(id: number)], sequence: Int64(number))
            #expect(await sink.deliver(batch) == .delivered)
        }
        #expect(sink.name == "discard")
        #expect(try FileManager.default.contentsOfDirectory(atPath: self.directory.path) == [])
    }

    @Test("a batch of many hits comes whole", arguments: TestedSink.keeping)
    func manyHits(sink: TestedSink) async throws {
        try await self.expectHits(
            of: [try TestHits.batch((1...1500).map { TestEvents.full(id: $0) })], in: sink)
    }

    @Test("joined groups come whole and in order", arguments: TestedSink.keeping)
    func joinedGroups(sink: TestedSink) async throws {
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

    @Test("D14: an opened notification is a click and then an open", arguments: TestedSink.keeping)
    func openedTwice(sink: TestedSink) async throws {
        let batch = try TestHits.batch([TestEvents.opened(id: 1)])
        #expect(try batch.records.map(\.kind) == [.click, .open])
        try await self.expectHits(of: [batch], in: sink)
    }

    @Test("an empty batch is delivered and adds nothing", arguments: TestedSink.keeping)
    func empty(sink: TestedSink) async throws {
        try await self.expectHits(
            of: [
                HitBatch(journal: "j", sequence: 1, payload: []),
                try TestHits.batch([TestEvents.full(id: 1)], sequence: 2),
            ], in: sink)
    }

    @Test("a batch that comes again is delivered again", arguments: TestedSink.keeping)
    func sameBatch(sink: TestedSink) async throws {
        let opened = try await sink.open(self.directory)
        let batch = try TestHits.batch([TestEvents.opened(id: 1)])
        for _ in 0..<2 { #expect(await opened.deliver(batch) == .delivered) }
        let hits = try sink.readBack(self.directory)
        #expect(hits.count == (sink.isExactlyOnce ? 2 : 4))
        #expect(Set(hits.map(\.id)).count == 2)
    }

    @Test("a sink goes on where it was when it is opened again", arguments: TestedSink.keeping)
    func reopened(sink: TestedSink) async throws {
        for number in 1...3 {
            let opened = try await sink.open(self.directory)
            let batch = try TestHits.batch(
                [TestEvents.full(id: number)], sequence: Int64(number))
            #expect(await opened.deliver(batch) == .delivered)
        }
        let hits = try sink.readBack(self.directory)
        #expect(hits.map(\.event.eventID) == ["event-1", "event-2", "event-3"])
    }

    @Test(
        "fields that this version does not know survive where the form has room for them",
        arguments: TestedSink.keeping)
    func unknownFields(sink: TestedSink) async throws {
        // Field 200, a text, behind all known ones.
        let unknown: [UInt8] = [0xc2, 0x0c, 3] + [UInt8]("new".utf8)
        let request = try TestHits.request(bytes: [
            try TestEvents.full(id: 1).serializedBytes() + unknown
        ])
        let batch = HitBatch(
            journal: "j", sequence: 1, payload: request.block)
        #expect(try batch.records.first?.event.unknownFields.data == Data(unknown))
        let opened = try await sink.open(self.directory)
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
        for sink in TestedSink.keeping {
            let opened = try await sink.open(self.directory)
            for batch in batches {
                let answer = await opened.deliver(batch)
                guard case .unreadable(let reason) = answer else {
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

    @Test(
        "a server's sink can do what the sink that it wraps can", arguments: TestedSink.all)
    func abilities(sink: TestedSink) async throws {
        let opened = try await sink.open(self.directory)
        #expect(SinkAbility.all(of: opened) == sink.abilities)
        let serialized: any Sink = SerializedSink(opened)
        let batch = try TestHits.batch([TestEvents.full(id: 1)])
        #expect(await serialized.deliver(batch) == .delivered)
        // The journal keeps the token of a sink that has one, and gives it to the next one.
        let token = try #require(serialized as? any ResumableSink).resumeToken
        #expect(token == (opened as? any ResumableSink)?.resumeToken ?? "")
        #expect(token.isEmpty != sink.abilities.contains(.resumable))
        let next = try await sink.open(self.directory)
        SerializedSink(next).resume(at: token)
        #expect((next as? any ResumableSink)?.resumeToken ?? "" == token)
        let subject = Subject(tenant: "default", ids: ["subject-1"])
        let erasure = try await #require(serialized as? any ErasableSink).erase(subject)
            .end()
        let isDefault = erasure.reason == "its backend keeps what it was sent: delete it there"
        #expect(isDefault != sink.abilities.contains(.erasable), "\(erasure)")
        #expect(erasure.outcome != .failed, "\(erasure)")
        // A replay moves no token, and erases nothing.
        #expect(SinkAbility.all(of: SerializedSink(opened).replayed) == [])
    }

    @Test("no sink waits for an event that it can never read", arguments: TestedSink.all)
    func brokenIndex(sink: TestedSink) async throws {
        let events = (1...3).map { TestEvents.full(id: $0) }
        let opened = try await sink.open(self.directory)
        let answer = await opened.deliver(
            HitBatch(try TestHits.requestWithBrokenIndex(events, broken: 1)))
        switch answer {
        case .unreadable: break
        case .delivered: #expect(!sink.isKeeping)
        case .rejected, .unavailable, .progressed, .suspended, .dataLoss: Issue.record("\(answer)")
        }
    }
}
