internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingRules
package import WireFormat

/// Encodes batches for the jsonl, stdout and webhook sinks: each hit as a TrackingRecord in proto3
/// JSON, on a line of its own. JSON drops unknown fields; the sqlite sink keeps them.
///
/// A line is written straight from the event's bytes. The fields of an event of an unusual form are
/// put in order first. A map's keys are compared by their bytes in either (D29, D32).
package struct JSONLines: ~Copyable {
    private var writer: ProtoJSONWriter
    /// What stands between the hit id and the campaign action, by the kind's number.
    private let kinds: [[UInt8]]
    /// The warnings in JSON, by their numbers.
    private let warnings: [[UInt8]]
    /// The sources in JSON, by their numbers; empty for the one that is left out.
    private let sources: [[UInt8]]

    /// A part of a line that is written once for the hits that have it in common.
    private struct Part {
        /// Where their event or request stands: each has a place of its own in the batch.
        let place: UnsafeRawPointer?
        let range: Range<Int>
    }

    /// The parts of the line before.
    private struct Parts {
        /// What the hits of an event share.
        var event: Part?
        /// What the hits of a request share, which is in their events' parts.
        var request: Part?
    }

    /// Creates an encoder for the records that Protos declare.
    ///
    /// - Throws: `BinaryDecodingError` if the committed descriptor set is damaged.
    package init() throws {
        let protos = ProtoDescriptors(try DescriptorSet.files())
        self.writer = ProtoJSONWriter(protos.schema(of: ".sightline.v1.TrackingEvent"))
        let kinds = protos.names(ofEnum: ".sightline.v1.HitKind") ?? [:]
        self.kinds = Self.values(HitKind.allCases.map(\.rawValue), kinds).map {
            [UInt8]("\",\"kind\":\($0)".utf8)
        }
        let warnings = protos.names(ofEnum: ".sightline.v1.Warning") ?? [:]
        self.warnings = Self.values(Warnings(rawValue: .max).numbers, warnings).map {
            [UInt8]($0.utf8)
        }
        let sources = protos.names(ofEnum: ".sightline.v1.EventSource") ?? [:]
        self.sources = Self.values(EventSource.allCases.map(\.rawValue), sources).enumerated().map {
            $0 == 0 ? [] : [UInt8](",\"source\":\($1)".utf8)
        }
    }

    /// An enum's values in JSON by number: a number that has no name is written as it is.
    private static func values(_ numbers: [UInt8], _ names: [Int32: String]) -> [String] {
        (0...(numbers.max() ?? 0)).map { number in
            names[Int32(number)].map { "\"\($0)\"" } ?? "\(number)"
        }
    }

    /// The lines of the batch that was encoded last, valid until the next one is.
    package var bytes: Bytes { self.writer.text.bytes }

    /// Encodes a batch.
    ///
    /// - Returns: by position the reasons of hits that have no JSON form.
    /// - Throws: `DamagedPayload` if the batch is not in the journal's form.
    package mutating func encode(_ hits: HitBatch) throws -> [Int: String] {
        self.writer.text.truncate(to: 0)
        var rejected: [Int: String] = [:]
        var parts = Parts()
        try hits.forEach { position, hit in
            do {
                try self.append(hit, &parts)
            } catch {
                rejected[position] = "no JSON form: \(error)"
            }
        }
        return rejected
    }

    private mutating func append(_ hit: Hit, _ parts: inout Parts) throws {
        let start = self.writer.text.count
        self.appendHead(hit)
        let bodyStart = self.writer.text.count
        if let part = parts.event, part.place == hit.event.baseAddress {
            self.writer.text.append(again: part.range)
        } else if self.appendBody(hit, hit.event, &parts) {
            parts.event = Part(
                place: hit.event.baseAddress, range: bodyStart..<self.writer.text.count)
        } else {
            parts = Parts()
            self.writer.text.truncate(to: start)
            try self.appendUnusual(hit)
        }
    }

    /// Appends the line of an event of an unusual form. What has no JSON form is left to
    /// SwiftProtobuf, which says why.
    private mutating func appendUnusual(_ hit: Hit) throws {
        let start = self.writer.text.count
        if let event = self.writer.ordered(hit.event, as: 0) {
            var parts = Parts()
            self.appendHead(hit)
            let isWritten = event.withUnsafeBytes { self.appendBody(hit, $0, &parts) }
            if isWritten { return }
            self.writer.text.truncate(to: start)
        }
        try self.appendRecord(hit)
    }

    /// Appends a line as SwiftProtobuf has it; its maps are in order too.
    private mutating func appendRecord(_ hit: Hit) throws {
        var options = JSONEncodingOptions()
        options.useDeterministicOrdering = true
        let line: [UInt8] = try hit.record().jsonUTF8Bytes(options: options)
        line.withUnsafeBytes { self.writer.text.append($0) }
        self.writer.text.append("\n")
    }

    // MARK: The fields of a TrackingRecord, as Hit+Record.swift fills them

    /// Appends what one hit of an event has of its own.
    private mutating func appendHead(_ hit: Hit) {
        self.writer.text.append("{\"hitId\":\"")
        hit.key.withHitID(hit.kind) { self.writer.text.append(base64: $0) }
        self.append(self.kinds[Int(hit.kind.rawValue)])
        if hit.campaignAction != 0 {
            self.writer.text.append(",\"campaignAction\":")
            self.writer.text.append(number: Int64(hit.campaignAction))
        }
    }

    /// Appends the rest of a line.
    ///
    /// - Returns: whether that is possible; if not, a part of it may have been appended.
    private mutating func appendBody(_ hit: Hit, _ event: Bytes, _ parts: inout Parts) -> Bool {
        do {
            try self.append(",\"deliveryId\":", hit.deliveryID)
            try self.append(",\"broadlogId\":", hit.broadlogID)
            guard try self.append(hit.request, &parts) else { return false }
        } catch {
            return false
        }
        self.append(hit.warnings)
        self.append(self.sources[Int(hit.source.rawValue)])
        self.writer.text.append(",\"event\":")
        guard self.writer.append(event, as: 0) else { return false }
        self.writer.text.append("}\n")
        return true
    }

    /// Appends what the hits of a request share; false if the time is outside of Timestamp's range.
    private mutating func append(
        _ request: Hit.Request, _ parts: inout Parts
    ) throws(WireError) -> Bool {
        // The journal has a request's tenant once.
        let place = UnsafeRawPointer(request.tenant.baseAddress)
        if let part = parts.request, part.place == place {
            self.writer.text.append(again: part.range)
            return true
        }
        let start = self.writer.text.count
        self.writer.text.append(",\"receiveTime\":")
        let isInRange = self.writer.text.append(
            seconds: request.receiveTime / 1_000_000,
            nanos: Int32(request.receiveTime % 1_000_000) * 1000)
        guard isInRange else { return false }
        try self.append(",\"tenant\":", request.tenant)
        self.writer.text.append(",\"traceContext\":{")
        try self.append("\"traceparent\":", request.traceparent)
        try self.append(
            request.traceparent.isEmpty ? "\"tracestate\":" : ",\"tracestate\":", request.tracestate
        )
        self.writer.text.append("}")
        parts.request = Part(place: place, range: start..<self.writer.text.count)
        return true
    }

    private mutating func append(_ warnings: Warnings) {
        if warnings.isEmpty { return }
        let numbers = warnings.numbers
        for (index, number) in numbers.enumerated() {
            self.writer.text.append(index == 0 ? ",\"warnings\":[" : ",")
            self.append(self.warnings[Int(number)])
        }
        if !numbers.isEmpty { self.writer.text.append("]") }
    }

    /// Appends a string field, unless it is empty.
    private mutating func append(_ name: StaticString, _ text: Bytes) throws(WireError) {
        guard !text.isEmpty else { return }
        self.writer.text.append(name)
        try self.writer.text.append(quoting: text)
    }

    private mutating func append(_ text: [UInt8]) {
        text.withUnsafeBytes { self.writer.text.append($0) }
    }
}
