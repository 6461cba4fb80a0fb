// The messages of the grpc sink: their form, and what fits into one.
@testable internal import GRPCSink
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import TestSupport
internal import Testing

struct RecordBatchWriterTests {
    /// Groups of three hits each, from sequence 11.
    private func batch(groups: Int) throws -> HitBatch {
        HitBatch(
            joining: try (0..<groups).map { group in
                try TestHits.batch(
                    (0..<3).map { TestEvents.full(id: group * 10 + $0) },
                    sequence: Int64(11 + group))
            })
    }

    private func messages(
        _ hits: HitBatch, after durable: HitPosition? = nil, maxBytes: Int
    ) throws -> (batches: [Sightline_V1_RecordBatch], rejected: [Int: String]) {
        var batch = DeliveredBatch(hits, after: durable)
        var writer = RecordBatchWriter(maxBytes: maxBytes)
        for group in hits.groups { try batch.append(group, to: &writer) }
        writer.finish()
        let messages = writer.takeReady()
        let batches = try messages.map { message in
            #expect(message.bytes.count <= maxBytes)
            return try Sightline_V1_DeliverRequest(serializedBytes: message.bytes).batch
        }
        #expect(messages.map(\.hits) == batches.map(\.records.count))
        #expect(messages.map { Optional($0.end) } == batches.map { HitPosition($0.end) })
        return (batches, batch.rejected)
    }

    /// Positions of all records of messages, as "sequence/index".
    private func positions(_ batches: [Sightline_V1_RecordBatch]) -> [String] {
        batches.flatMap(\.groups).flatMap { part in
            (0..<part.count).map { "\(part.sequence)/\(part.firstIndex + $0)" }
        }
    }

    @Test("one message holds what fits into it, whatever the groups")
    func whole() throws {
        let hits = try self.batch(groups: 4)
        let (batches, rejected) = try self.messages(hits, maxBytes: 1 << 20)
        #expect(batches.count == 1 && rejected == [:])
        #expect(batches[0].records == (try hits.records))
        #expect(batches[0].groups.map(\.sequence) == [11, 12, 13, 14])
        #expect(batches[0].groups.map(\.count) == [3, 3, 3, 3])
        #expect(batches[0].end.sequence == 14 && batches[0].end.index == 2)
    }

    @Test("that an ack is awaited is the last byte, whoever wrote the message")
    func awaitsAck() throws {
        let hits = try self.batch(groups: 1)
        var batch = DeliveredBatch(hits, after: nil)
        var writer = RecordBatchWriter(maxBytes: 1 << 20)
        try batch.append(hits.groups[0], to: &writer)
        writer.finish()
        let written = try #require(writer.takeReady().first)
        let content = try Sightline_V1_DeliverRequest(serializedBytes: written.bytes).batch
        let other = try RecordBatchMessage(content, end: written.end)
        #expect(other.hits == 3 && other.bytes == written.bytes)
        for var message in [written, other] {
            for awaitsAck in [false, true, false] {
                message.awaitsAck = awaitsAck
                #expect(message.awaitsAck == awaitsAck)
                let request = try Sightline_V1_DeliverRequest(serializedBytes: message.bytes)
                #expect(request.batch.awaitsAck == awaitsAck)
                #expect(request.batch.records == content.records)
                #expect(request.batch.end == content.end)
            }
        }
    }

    @Test("a limit splits groups between two hits, and no message exceeds it")
    func split() throws {
        let hits = try self.batch(groups: 10)
        for maxBytes in stride(from: 500, through: 4000, by: 250) {
            let (batches, rejected) = try self.messages(hits, maxBytes: maxBytes)
            #expect(rejected == [:])
            #expect(batches.flatMap(\.records) == (try hits.records))
            let wanted = (11...20).flatMap { group in [0, 1, 2].map { "\(group)/\($0)" } }
            #expect(self.positions(batches) == wanted)
            for batch in batches {
                #expect(batch.groups.reduce(0) { $0 + Int($1.count) } == batch.records.count)
                let last = try #require(batch.groups.last)
                #expect(batch.end.sequence == last.sequence)
                #expect(batch.end.index == last.firstIndex + last.count - 1)
            }
        }
    }

    @Test("a hit that no message can hold is refused, and the part ends before it")
    func tooLarge() throws {
        var large = TestEvents.full(id: 2)
        large.eventID = String(repeating: "e", count: 64)
        let hits = try TestHits.batch([TestEvents.full(id: 1), large, TestEvents.full(id: 3)])
        let usual: [UInt8] = try hits.records[0].serializedBytes()
        let maxBytes = usual.count + 96
        let (batches, rejected) = try self.messages(hits, maxBytes: maxBytes)
        #expect(self.positions(batches) == ["1/0", "1/2"])
        #expect(rejected.keys.sorted() == [1])
        #expect(rejected[1]?.hasSuffix("bytes, and a message may have \(maxBytes)") == true)
    }

    @Test("what the backend has is left out, and what cannot be sent is refused all the same")
    func goesOn() throws {
        let hits = try self.batch(groups: 3)
        let (all, _) = try self.messages(hits, maxBytes: 500)
        for (number, batch) in all.enumerated() {
            let durable = try #require(HitPosition(batch.end))
            let (rest, _) = try self.messages(hits, after: durable, maxBytes: 500)
            #expect(rest == Array(all[(number + 1)...]))
        }
        var events = (1...3).map { TestEvents.full(id: $0) }
        events[0].push.apns.customFields = ["key": String(repeating: "v", count: 500)]
        let large = try TestHits.batch(events)
        let end = HitPosition(sequence: 9, index: 0, check: 0)
        let (rest, rejected) = try self.messages(large, after: end, maxBytes: 500)
        #expect(rest == [] && Array(rejected.keys) == [0])
    }

    @Test("a group that is another one than at the backend's position is sent whole")
    func otherGroup() throws {
        let hits = try self.batch(groups: 3)
        var durable = HitPosition(sequence: 12, index: 1, check: 1)
        let (rest, _) = try self.messages(hits, after: durable, maxBytes: 1 << 20)
        #expect(self.positions(rest) == ["12/0", "12/1", "12/2", "13/0", "13/1", "13/2"])
        // A filter that passes fewer of them than there were.
        durable.index = 7
        #expect(try self.messages(hits, after: durable, maxBytes: 1 << 20).batches == rest)
    }
}
