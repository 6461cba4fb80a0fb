// Batches that no sink can read, and processes without a disk.
internal import Delivery
internal import Foundation
internal import GRDB
internal import SQLiteSink
internal import ServerConfiguration
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingJournal

extension ForwarderTests {
    @Test(
        "a batch that the sink cannot read becomes dead letters, hit by hit, and the next is taken",
        arguments: TestedSink.keeping)
    func undeliverable(_ tested: TestedSink) async throws {
        let sink = try await tested.open(self.directory)
        let journal = try await self.journal(sink.name)
        let events = (1...3).map { TestEvents.push(.opened, id: $0) }
        await self.commit(try TestHits.requestFromLaterOn(events, strange: 1), to: journal)
        try await self.commit([TestEvents.full(id: 4)], to: journal)
        journal.finish()
        try await self.forwarder(journal, sink).run()
        #expect(try tested.readBack(self.directory).map(\.event.eventID) == ["event-4"])
        #expect(journal.cursor(of: sink.name) == 2)
        let letters = try self.letters()
        #expect(letters.map { $0["position"] as Int } == [-1, 0, 1, 2, 3])
        let rest = try #require(letters.first)
        #expect((rest["reason"] as String).contains("unreadable"))
        #expect((rest["record"] as Data).firstRange(of: Data("h2".utf8)) != nil)
        let records = try letters.dropFirst().map {
            try Sightline_V1_TrackingRecord(serializedBytes: $0["record"] as Data)
        }
        #expect(records.map(\.broadlogID) == ["h1", "h1", "h3", "h3"])
        #expect(records.map(\.kind) == [.click, .open, .click, .open])
        #expect(try self.counts() == [1, 0, 5, 1])
        await journal.close()
        let recording = RecordingSink()
        let counts = try await Replay(
            of: try DeadLetters(path: self.directory.file("dead_letters.db")),
            refusedBy: sink.name, to: recording
        ).run()
        #expect(counts == Replay.Counts(delivered: 4, unreadable: 1))
    }

    @Test(
        "an event whose index leads beyond it becomes a dead letter, and stops no sink",
        arguments: TestedSink.keeping)
    func brokenIndex(_ tested: TestedSink) async throws {
        let sink = try await tested.open(self.directory)
        let journal = try await self.journal(sink.name)
        let events = (1...3).map { TestEvents.full(id: $0) }
        await self.commit(try TestHits.requestWithBrokenIndex(events, broken: 1), to: journal)
        try await self.commit([TestEvents.full(id: 4)], to: journal)
        journal.finish()
        try await self.forwarder(journal, sink).run()
        let kept = try tested.readBack(self.directory).map(\.event.eventID)
        let letters = try self.letters()
        // The others are in the sink, or dead letters of their own.
        #expect(kept.last == "event-4")
        #expect(kept.count + letters.count == 4)
        #expect(letters.contains { ($0["record"] as Data).firstRange(of: Data("h2".utf8)) != nil })
        await journal.close()
    }

    @Test("without a disk, a batch that the sink cannot read is settled once it is kept")
    func undeliverableWithoutDisk() async throws {
        var configuration = Journal.Configuration()
        configuration.mode = .off
        let sink = try SQLiteSink(path: self.directory.file("hits.db"))
        let journal = try Journal(
            directory: "", sinks: [JournalSink(sink.name)], configuration: configuration,
            onFailure: { _ in })
        let forwarder = try self.forwarder(journal, sink)
        async let running: Void = forwarder.run()
        await self.commit(
            try TestHits.requestFromLaterOn([TestEvents.full(id: 1)], strange: 0), to: journal)
        #expect(try self.letters().count == 1)
        journal.finish()
        try await running
        await journal.close()
    }

    @Test("without a disk, hits of a later process count too: their sequences begin anew")
    func laterProcessWithoutDisk() async throws {
        var configuration = Journal.Configuration()
        configuration.mode = .off
        for id in 1...2 {
            let journal = try Journal(
                directory: "", sinks: [JournalSink("sqlite")], configuration: configuration,
                onFailure: { _ in })
            let forwarder = try self.forwarder(
                journal, try SQLiteSink(path: self.directory.file("hits.db")))
            async let running: Void = forwarder.run()
            try await self.commit([TestEvents.full(id: id)], to: journal)
            journal.finish()
            try await running
            await journal.close()
        }
        let hits = try TestedSink(kind: .sqlite).readBack(self.directory)
        #expect(hits.map(\.event.eventID) == ["event-1", "event-2"])
    }
}
