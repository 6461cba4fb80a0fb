// The sinks that tests of all of them open.
internal import CampaignSink
package import FileSinks
package import Foundation
internal import GRDB
internal import GRPCSink
internal import Glibc
@testable internal import KafkaSink
@testable internal import NATSSink
internal import PostgreSQLSink
internal import SQLiteSink
package import ServerConfiguration
package import SightlineProtos
package import SinkKit
internal import SwiftProtobuf
package import TestSupport
internal import Testing
internal import WebhookSink

/// A kind of sink in one of its forms, and how to read back what it has.
package struct TestedSink: CustomTestStringConvertible {
    package let kind: SinkKind
    package var compression = JSONLinesConfiguration.Compression.none

    /// A kind of sink, with its lines compressed or not.
    package init(kind: SinkKind, compression: JSONLinesConfiguration.Compression = .none) {
        self.kind = kind
        self.compression = compression
    }

    /// Those that are tested: nats, kafka and postgresql only where their servers are there, as
    /// `make test-swift` sees to.
    package static let all =
        SinkKind.allCases.filter { $0 != .nats || NATSConfiguration.testServer != nil }
        .filter { $0 != .kafka || TestCluster.program != nil }
        .filter { $0 != .postgresql || PostgreSQLConfiguration.testServer != nil }
        .map { Self(kind: $0) } + [Self(kind: .jsonl, compression: .zstd)]
    /// Those of them that keep what they get.
    package static let keeping = Self.all.filter(\.isKeeping)

    /// Whether it keeps what it gets; else it does not even read it.
    package var isKeeping: Bool { self.kind != .discard }

    package var testDescription: String {
        self.compression == .none ? "\(self.kind)" : "\(self.kind) with \(self.compression)"
    }

    private func lines(in directory: TemporaryDirectory) -> String {
        directory.file("lines-\(self.compression)")
    }

    /// Opens it on its files in `directory`.
    package func open(_ directory: TemporaryDirectory) async throws -> any Sink {
        switch self.kind {
        case .sqlite: return try SQLiteSink(path: directory.file("hits.db"))
        case .jsonl:
            return try JSONLinesSink(
                directory: self.lines(in: directory), .with { $0.compression = self.compression })
        case .stdout:
            let file = directory.file("stdout")
            let descriptor = Glibc.open(file, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            return try StandardOutputSink(descriptor: descriptor)
        case .discard: return DiscardSink()
        case .nats: return try NATSSink(.test(directory))
        case .kafka:
            let configuration = try KafkaConfiguration.test(directory)
            try TestCluster.shared().makeTopic(configuration.topic)
            return try KafkaSink(configuration)
        case .campaign:
            let receiver = Self.receiver(of: directory)
            // One at a time: else there is an order within a notification alone.
            return CampaignSink(try await receiver.configuration { $0.maxInFlight = 1 })
        case .webhook: return try WebhookSink(.test(.of(directory), directory))
        case .postgresql: return try PostgreSQLSink(.test(directory))
        case .grpc: return try GRPCSink(try await TestBackend.of(directory).configuration())
        }
    }

    private static func receiver(of directory: TemporaryDirectory) -> CampaignReceiver {
        CampaignReceiver.at(directory.path + "/") ?? CampaignReceiver(path: directory.path + "/")
    }

    /// A hit as it is read back once it was delivered: Campaign gets no more than the ids.
    package func kept(_ record: Sightline_V1_TrackingRecord) -> ReadHit {
        if self.kind != .campaign { return ReadHit(record) }
        let ids = "\(record.broadlogID),\(record.deliveryID),\(record.campaignAction)"
        return ReadHit(postback: "?id=\(ids)&mcId=\(record.event.subjectID)")
    }

    /// The hits it has, in order.
    package func readBack(_ directory: TemporaryDirectory) throws -> [ReadHit] {
        switch self.kind {
        case .sqlite:
            return try DatabaseQueue(inUse: directory.file("hits.db")).read { database in
                try Row.fetchAll(
                    database, sql: "SELECT hit_id, event, traceparent FROM hits ORDER BY rowid"
                ).map { row in
                    let event = try Sightline_V1_TrackingEvent(serializedBytes: row[1] as Data)
                    return ReadHit(id: row[0], event: event, traceparent: row[2] ?? "")
                }
            }
        case .jsonl:
            let lines = LinesFile(1, self.compression, in: self.lines(in: directory))
            return try Self.hits(ofLines: lines.text)
        case .stdout:
            return try Self.hits(
                ofLines: String(contentsOfFile: directory.file("stdout"), encoding: .utf8))
        case .discard: return []
        case .nats:
            return try TestStream(.test(directory)).messages().map { message in
                let record = try Sightline_V1_TrackingRecord(serializedBytes: message.data)
                #expect(message.hitID == record.hitID.hex)
                return ReadHit(record)
            }
        case .kafka:
            let configuration = try KafkaConfiguration.test(directory)
            let topic = TestTopic(brokers: configuration.brokers, name: configuration.topic)
            return try topic.messages().map { message in
                let record = try Sightline_V1_TrackingRecord(serializedBytes: message.value)
                #expect(message.hitID == record.hitID.hex)
                return ReadHit(record)
            }
        case .campaign: return Self.receiver(of: directory).counted.map(ReadHit.init(postback:))
        case .webhook: return try TestReceiver.of(directory).events.map { ReadHit($0.record) }
        case .postgresql:
            return try TestDatabase(.test(directory)).run(
                "SELECT replace(hit_id::text, '-', ''), encode(event, 'hex'), traceparent "
                    + "FROM hits ORDER BY rowid"
            ).map { row in
                let event = try Sightline_V1_TrackingEvent(
                    serializedBytes: [UInt8](hex: row[1]) ?? [])
                return ReadHit(
                    id: Data([UInt8](hex: row[0]) ?? []), event: event, traceparent: row[2])
            }
        case .grpc: return TestBackend.known(directory)?.records.map(ReadHit.init) ?? []
        }
    }

    /// Whether a batch that is delivered twice counts once.
    package var isExactlyOnce: Bool {
        switch self.kind {
        case .sqlite, .nats, .postgresql, .grpc: true
        case .jsonl, .stdout, .discard, .kafka, .campaign, .webhook: false
        }
    }

    /// Whether fields that this version does not know survive.
    package var keepsUnknownFields: Bool {
        switch self.kind {
        case .sqlite, .nats, .kafka, .postgresql, .grpc: true
        case .jsonl, .stdout, .discard, .campaign, .webhook: false
        }
    }

    /// What it can do beside deliveries. A wrapper hides what it does not pass on.
    package var abilities: Set<SinkAbility> {
        switch self.kind {
        case .sqlite, .jsonl, .stdout: [.erasable]
        case .discard, .webhook, .kafka: [.erasable, .probeable]
        case .campaign: [.probeable]
        case .nats, .postgresql: [.resumable, .erasable, .probeable]
        case .grpc: [.resumable, .positioned, .erasable, .probeable]
        }
    }

    /// Whether the test hit stays: discard keeps nothing, Campaign gets none, the stream of NATS
    /// drops it, and PostgreSQL's transaction is rolled back.
    package var keepsProbeHit: Bool {
        switch self.kind {
        case .sqlite, .jsonl, .stdout, .kafka, .webhook, .grpc: true
        case .discard, .nats, .campaign, .postgresql: false
        }
    }

    private static func hits(ofLines text: String) throws -> [ReadHit] {
        try text.split(separator: "\n").map { line in
            let record = try Sightline_V1_TrackingRecord(jsonString: String(line))
            return ReadHit(
                id: record.hitID, event: record.event,
                traceparent: record.traceContext.traceparent)
        }
    }
}

/// What a sink may be able to do beside deliveries.
package enum SinkAbility {
    case resumable
    case positioned
    case erasable
    case probeable

    /// Those of a sink, by the protocols that it conforms to.
    package static func all(of sink: any Sink) -> Set<SinkAbility> {
        var abilities: Set<SinkAbility> = []
        if sink is any ResumableSink { abilities.insert(.resumable) }
        if sink is any PositionedSink { abilities.insert(.positioned) }
        if sink is any ErasableSink { abilities.insert(.erasable) }
        if sink is any ProbeableSink { abilities.insert(.probeable) }
        return abilities
    }
}

/// The fields of a hit that every sink stores.
package struct ReadHit: Equatable {
    package let id: Data
    package let event: Sightline_V1_TrackingEvent
    package let traceparent: String

    package init(id: Data, event: Sightline_V1_TrackingEvent, traceparent: String) {
        self.id = id
        self.event = event
        self.traceparent = traceparent
    }

    package init(_ record: Sightline_V1_TrackingRecord) {
        self.init(
            id: record.hitID, event: record.event, traceparent: record.traceContext.traceparent)
    }
    /// A hit of which only a request is left. The tests' subjects have their event's number.
    package init(postback query: String) {
        let subject = query.components(separatedBy: "subject-")
        let event = Sightline_V1_TrackingEvent.with { event in
            event.eventID = subject.count > 1 ? "event-\(subject[1])" : ""
        }
        self.init(id: Data(query.utf8), event: event, traceparent: "")
    }
}
