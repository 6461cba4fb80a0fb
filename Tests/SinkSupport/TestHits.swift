// Requests and batches as the service makes them.
internal import Delivery
internal import Foundation
package import SightlineProtos
package import SinkKit
internal import SwiftProtobuf
internal import TestSupport
internal import TrackingJournal
package import TrackingRules
internal import W3CTrace

/// Requests and batches of events.
package enum TestHits {
    package static let receiveTime: Int64 = 1_800_000_000_123_456

    /// A request as the service hands it to the journal.
    package static func request(
        _ events: [Sightline_V1_TrackingEvent], tracestate: String = "", tenant: String = "default",
        at receiveTime: Int64 = TestHits.receiveTime, from source: EventSource = .api
    ) throws -> AdmittedRequest {
        try self.request(
            bytes: events.map { try $0.serializedBytes() }, tracestate: tracestate,
            tenant: tenant, at: receiveTime, from: source)
    }

    /// A request of events that are bytes already.
    package static func request(
        bytes events: [[UInt8]], tracestate: String = "", tenant: String = "default",
        at receiveTime: Int64 = TestHits.receiveTime, from source: EventSource = .api
    ) throws -> AdmittedRequest {
        let message = WireWriter.message { for event in events { $0.field(2, event) } }
        let admission = Admission()
        let request = message.withUnsafeBytes { buffer in
            admission.admit(
                admission.read(buffer, shape: .stream), bytes: buffer.count, tenant: tenant,
                receiveTime: receiveTime, source: source)
        }
        var generator = Dice(seed: 1)
        let trace = TraceContext.random(isSampled: true, using: &generator)
        request.trace = TraceContext(
            traceID: trace.traceID, spanID: trace.spanID, isSampled: true,
            tracestate: tracestate)
        return request
    }

    /// A request as a newer build may have left it: one event's hits are of a kind that is not
    /// known here.
    package static func requestFromLaterOn(
        _ events: [Sightline_V1_TrackingEvent], strange index: Int
    ) throws -> AdmittedRequest {
        let request = try self.request(events)
        // The lowest bit of the entry's kinds, which no kind has.
        request.entries[request.acceptedEvents[index].entryOffset + 16] |= 1
        return request
    }

    /// A request of which one event's index leads beyond the event.
    package static func requestWithBrokenIndex(
        _ events: [Sightline_V1_TrackingEvent], broken index: Int
    ) throws -> AdmittedRequest {
        let request = try self.request(events)
        // The upper byte of the delivery's offset.
        request.entries[request.acceptedEvents[index].entryOffset + 39] = 0xff
        return request
    }

    /// A batch of one request.
    package static func batch(
        _ events: [Sightline_V1_TrackingEvent], sequence: Int64 = 1, journal: String = "j",
        tracestate: String = "", tenant: String = "default",
        at receiveTime: Int64 = TestHits.receiveTime, from source: EventSource = .api
    ) throws -> HitBatch {
        let request = try self.request(
            events, tracestate: tracestate, tenant: tenant, at: receiveTime, from: source)
        return HitBatch(
            journal: journal, sequence: sequence, payload: request.block)
    }
}

extension HitBatch {
    /// A batch of one request that has been made.
    package init(_ request: AdmittedRequest, sequence: Int64 = 1) {
        self.init(journal: "j", sequence: sequence, payload: request.block)
    }

    /// Joins batches of one journal, as the forwarder does.
    package init(joining batches: [HitBatch]) {
        self.init(
            journal: batches.first?.journal ?? "",
            joining: batches.map {
                JournalBatch(
                    sequence: $0.sequence, eventCount: $0.eventCount, hitCount: $0.hitCount,
                    payload: $0.payload)
            })
    }

    /// What it holds, as records.
    package var records: [Sightline_V1_TrackingRecord] {
        get throws {
            var records: [Sightline_V1_TrackingRecord] = []
            try self.forEach { _, hit in records.append(try hit.record()) }
            return records
        }
    }
}

extension AdmittedRequest {
    /// The request's block, as the journal has it.
    package var block: [UInt8] {
        var block: [UInt8] = []
        self.appendSealed(to: &block)
        return block
    }
}
