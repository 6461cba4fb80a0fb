package import SightlineProtos
internal import SinkKit
internal import SwiftProtobuf
internal import TrackingRules
internal import WireFormat

/// A message with hits that is ready to be sent.
package struct RecordBatchMessage: Sendable {
    /// A DeliverRequest. Its last field is the batch's `awaits_ack`, also if that is false: only as
    /// the message is sent it is known whether another one can follow.
    private(set) var bytes: [UInt8]
    /// The number of its hits.
    let hits: Int
    /// The position of its last hit.
    let end: HitPosition

    /// A message that is written already, up to the value of `awaits_ack`.
    init(bytes: [UInt8], hits: Int, end: HitPosition) {
        self.bytes = bytes
        self.hits = hits
        self.end = end
    }

    /// Writes a batch.
    ///
    /// - Parameter end: the batch's end.
    package init(_ batch: Sightline_V1_RecordBatch, end: HitPosition) throws {
        var request = Sightline_V1_DeliverRequest()
        request.batch = batch
        // A false one would not be written.
        request.batch.awaitsAck = true
        self.init(bytes: try request.serializedBytes(), hits: batch.records.count, end: end)
        self.awaitsAck = false
    }

    /// Whether nothing more is sent before an ack.
    var awaitsAck: Bool {
        get { self.bytes.last == 1 }
        set { self.bytes.replaceSubrange((self.bytes.endIndex - 1)..., with: [newValue ? 1 : 0]) }
    }
}

/// Writes hits into messages of a limited size. It never decodes a record: the fields of
/// DeliverRequest are written here as bytes.
struct RecordBatchWriter {
    private let maxBytes: Int
    private var writer = RecordWriter()
    private var records: [UInt8] = []
    private var parts: [UInt8] = []
    private var part: Part?
    private var hits = 0
    private var end: HitPosition?
    private var ready: [RecordBatchMessage] = []

    /// Hits of one group that follow each other.
    private struct Part {
        let sequence: Int64
        let first: Int
        var count = 1
    }

    /// What a message needs beside its records and parts: the last part, the end, tags and lengths.
    private static let overhead = 96

    /// - Parameter maxBytes: the maximum bytes of a message.
    init(maxBytes: Int) { self.maxBytes = maxBytes }

    /// Why a hit can be in no message; nil if it can.
    mutating func refusal(of hit: Hit) -> String? {
        self.refusal(ofRecord: self.writer.prepare(hit))
    }

    private func refusal(ofRecord size: Int) -> String? {
        size + Self.overhead <= self.maxBytes
            ? nil : "\(size) bytes, and a message may have \(self.maxBytes)"
    }

    /// Appends a hit.
    ///
    /// - Returns: why the hit can be in no message; nil if it is in one.
    mutating func append(_ hit: Hit, at position: HitPosition) -> String? {
        let size = self.writer.prepare(hit)
        if let refusal = self.refusal(ofRecord: size) { return refusal }
        if self.records.count + self.parts.count + size + Self.overhead > self.maxBytes {
            self.finish()
        }
        self.records.appendHead(FieldTag.RecordBatch.records, count: size)
        self.writer.append(hit, to: &self.records)
        self.note(position)
        return nil
    }

    private mutating func note(_ position: HitPosition) {
        self.hits += 1
        self.end = position
        if let part, part.sequence == position.sequence, part.first + part.count == position.index {
            self.part?.count += 1
            return
        }
        self.closePart()
        self.part = Part(sequence: position.sequence, first: position.index)
    }

    private mutating func closePart() {
        guard let part else { return }
        var bytes: [UInt8] = []
        bytes.appendNumber(FieldTag.GroupPart.sequence, UInt64(part.sequence))
        bytes.appendNumber(FieldTag.GroupPart.firstIndex, UInt64(part.first))
        bytes.appendNumber(FieldTag.GroupPart.count, UInt64(part.count))
        self.parts.appendField(FieldTag.RecordBatch.groups, bytes)
        self.part = nil
    }

    /// Ends the message that is under way.
    mutating func finish() {
        self.closePart()
        guard let end else { return }
        var position: [UInt8] = []
        position.appendNumber(FieldTag.Position.sequence, UInt64(end.sequence))
        position.appendNumber(FieldTag.Position.index, UInt64(end.index))
        position.appendVarint(UInt64(FieldTag.Position.check))
        withUnsafeBytes(of: end.check.littleEndian) { position.append(contentsOf: $0) }
        self.parts.appendField(FieldTag.RecordBatch.end, position)
        self.parts.appendVarint(UInt64(FieldTag.RecordBatch.awaitsAck))
        self.parts.append(0)
        let count = self.records.count + self.parts.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 6)
        bytes.appendHead(FieldTag.DeliverRequest.batch, count: count)
        bytes += self.records
        bytes += self.parts
        self.ready.append(RecordBatchMessage(bytes: bytes, hits: self.hits, end: end))
        self.records.removeAll(keepingCapacity: true)
        self.parts.removeAll(keepingCapacity: true)
        self.hits = 0
        self.end = nil
    }

    /// Forgets the last event, whose bytes may move after this group.
    mutating func endGroup() { self.writer.endBatch() }

    /// The messages that have been ended since the last call.
    mutating func takeReady() -> [RecordBatchMessage] {
        defer { self.ready.removeAll() }
        return self.ready
    }
}
