internal import Foundation
internal import GRPCSink
internal import SightlineProtos
internal import SwiftProtobuf

extension BackendCheck {
    /// Hits in a group.
    static let hitsPerGroup = 5
    static let tenant = "sightline-check"

    /// A journal that no backend has seen.
    func journal() -> String { "check-\(UUID().uuidString.lowercased())" }

    /// The position of the last hit of a group.
    func end(_ group: Int) -> HitPosition {
        HitPosition(
            sequence: Int64(group), index: Self.hitsPerGroup - 1,
            check: UInt32(truncatingIfNeeded: group) &* 2_654_435_761)
    }

    /// A message with one group.
    ///
    /// - Parameters:
    ///   - odd: the index of a hit that lacks nearly everything: a backend may refuse it.
    ///   - subject: the recipient of the hits; with one they have ids of their own, so that no
    ///     backend takes them for those of an earlier journal.
    func message(
        _ group: Int, odd: Int? = nil, subject: String? = nil
    ) throws -> RecordBatchMessage {
        let end = self.end(group)
        var batch = Sightline_V1_RecordBatch()
        batch.records = (0..<Self.hitsPerGroup).map { index in
            index == odd ? .with { $0.hitID = Self.hitID(group, index) } : Self.hit(group, index)
        }
        if let subject {
            for index in batch.records.indices {
                batch.records[index].hitID = Self.newHitID()
                batch.records[index].event.subjectID = subject
            }
        }
        var part = Sightline_V1_GroupPart()
        part.sequence = UInt64(group)
        part.count = UInt32(Self.hitsPerGroup)
        batch.groups = [part]
        batch.end = .with { position in
            position.sequence = UInt64(end.sequence)
            position.index = UInt32(end.index)
            position.check = end.check
        }
        return try RecordBatchMessage(batch, end: end)
    }

    /// Sends groups as a delivery: after the last one nothing comes before its ack.
    func send(_ groups: ClosedRange<Int>, on stream: DeliverStream) async throws {
        for group in groups.dropLast() {
            try await stream.send(
                try self.message(group), before: try self.message(group + 1))
        }
        try await stream.send(try self.message(groups.upperBound), before: nil)
    }

    private static func newHitID() -> Data {
        let id = UUID().uuid
        return withUnsafeBytes(of: id) { Data($0.prefix(15)) } + Data([2])
    }

    private static func hitID(_ group: Int, _ index: Int) -> Data {
        Data((0..<14).map { UInt8(truncatingIfNeeded: group >> (8 * ($0 % 8))) })
            + Data([UInt8(index), 2])
    }

    private static func hit(_ group: Int, _ index: Int) -> Sightline_V1_TrackingRecord {
        .with { record in
            record.hitID = Self.hitID(group, index)
            record.kind = .click
            record.campaignAction = 2
            record.deliveryID = "check"
            record.broadlogID = "h\(String(group * Self.hitsPerGroup + index, radix: 16))"
            record.receiveTime = .with { $0.seconds = Int64(Date().timeIntervalSince1970) }
            record.tenant = Self.tenant
            record.event.eventID = "check-\(group)-\(index)"
            record.event.trackAction.action = .click
            record.event.trackAction.deliveryID = record.deliveryID
            record.event.trackAction.broadlogID = record.broadlogID
        }
    }

    /// Opens a stream.
    func open(
        _ journal: String, sink: String = "check", settled: Int = 0
    ) async throws -> DeliverStream {
        var hello = Sightline_V1_Hello()
        hello.versions = [DeliverState.version]
        hello.capabilities = [.refusals, .erasure]
        hello.journalID = journal
        hello.sink = sink
        hello.settledSequence = UInt64(settled)
        let stream = try DeliverStream(hello, self.backend)
        do {
            _ = try await stream.open(within: self.backend.configuration.connectTimeout)
        } catch {
            stream.close(inOrder: false)
            throw error
        }
        return stream
    }

    /// Opens a stream of a journal that is new to the backend.
    func openNew(_ journal: String) async throws -> DeliverStream {
        let stream = try await self.open(journal)
        if let durable = stream.durable {
            throw Fault(
                "It says that it has hits up to \(durable) of a journal that it never saw: it "
                    + "ignores the journal's id, and hits would be left out.")
        }
        return stream
    }

    /// Sends groups, waits for their acks, and breaks the stream off.
    func deliver(_ groups: ClosedRange<Int>, to journal: String) async throws {
        let stream = try await self.openNew(journal)
        defer { stream.close(inOrder: false) }
        try await self.send(groups, on: stream)
        try await stream.settle()
    }

    /// Expects a position after a break.
    func expect(
        _ group: Int, in stream: DeliverStream, because reason: String
    ) throws {
        let wanted = self.end(group)
        guard let durable = stream.durable else {
            throw Fault("It has forgotten its position: \(reason), and now it has nothing.")
        }
        if durable == wanted { return }
        if durable < wanted {
            throw Fault(
                "It acknowledges before it stores: \(reason), and now it has hits up to "
                    + "\(durable) only.")
        }
        throw Fault(
            "It returned the position \(durable) with the check \(durable.check): \(reason), with "
                + "the check \(wanted.check). A position has to come back as it was sent.")
    }
}
