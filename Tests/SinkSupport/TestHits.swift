// Events, requests and batches as the service makes them.
internal import Delivery
internal import Foundation
package import SightlineProtos
package import SinkKit
internal import SwiftProtobuf
internal import TestSupport
internal import TrackingJournal
package import TrackingRules
internal import W3CTrace

/// Events of all forms, as a protobuf library writes them.
package enum TestEvents {
    /// A push interaction on Android or iOS; `id` makes the message's id.
    package static func push(
        _ kind: Sightline_V1_PushInteractionKind, id: Int, on platform: Platform = .android,
        delivery: String = "56c4"
    ) -> Sightline_V1_TrackingEvent {
        .with { event in
            event.push.kind = kind
            switch platform {
            case .android:
                event.push.fcm.data.deliveryID = delivery
                event.push.fcm.data.messageID = self.messageID(id)
            case .ios:
                event.push.apns.deliveryID = delivery
                event.push.apns.messageID = self.messageID(id)
            }
        }
    }

    /// A TrackAction, which has no platform of its own.
    package static func action(
        _ action: Sightline_V1_Action, id: Int, product: Sightline_V1_CampaignProduct = .standard
    ) -> Sightline_V1_TrackingEvent {
        .with { event in
            event.trackAction.action = action
            event.trackAction.deliveryID = "56c4"
            event.trackAction.broadlogID = self.messageID(id)
            event.trackAction.product = product
        }
    }

    /// A notification that a known subject opened: a click and an open.
    package static func opened(id: Int) -> Sightline_V1_TrackingEvent {
        var event = self.push(.opened, id: id)
        event.subjectID = "subject-\(id)"
        return event
    }

    /// A notification that arrived, with every field that a row has a column for.
    package static func full(id: Int) -> Sightline_V1_TrackingEvent {
        var event = self.push(.received, id: id, on: .ios)
        event.eventID = "event-\(id)"
        event.occurTime.seconds = 1_799_999_999
        event.occurTime.nanos = 123_456_789
        event.appID = "com.example.app"
        event.platform = .ios
        event.subjectID = "subject-\(id)"
        event.consent = .optedIn
        return event
    }

    package enum Platform {
        case android
        case ios
    }

    private static func messageID(_ id: Int) -> String { "h" + String(id, radix: 16) }
}

/// Requests and batches of events.
package enum TestHits {
    package static let receiveTime: Int64 = 1_800_000_000_123_456

    /// A request as the service hands it to the journal.
    package static func request(
        _ events: [Sightline_V1_TrackingEvent], tracestate: String = "", tenant: String = "default",
        at receiveTime: Int64 = TestHits.receiveTime
    ) throws -> AdmittedRequest {
        try self.request(
            bytes: events.map { try $0.serializedBytes() }, tracestate: tracestate,
            tenant: tenant, at: receiveTime)
    }

    /// A request of events that are bytes already.
    package static func request(
        bytes events: [[UInt8]], tracestate: String = "", tenant: String = "default",
        at receiveTime: Int64 = TestHits.receiveTime
    ) throws -> AdmittedRequest {
        var message: [UInt8] = []
        for event in events {
            // Field 2 of StreamEventsRequest, of less than 16 KiB.
            message.append(2 << 3 | 2)
            message.append(UInt8(event.count & 0x7f) | 0x80)
            message.append(UInt8(event.count >> 7))
            message += event
        }
        let admission = Admission()
        let request = message.withUnsafeBytes { buffer in
            admission.admit(
                admission.read(buffer, shape: .stream), bytes: buffer.count, tenant: tenant,
                receiveTime: receiveTime)
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
        // The upper half of the entry's kinds.
        request.entries[request.acceptedEvents[index].entryOffset + 17] |= 0x80
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
        at receiveTime: Int64 = TestHits.receiveTime
    ) throws -> HitBatch {
        let request = try self.request(
            events, tracestate: tracestate, tenant: tenant, at: receiveTime)
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
