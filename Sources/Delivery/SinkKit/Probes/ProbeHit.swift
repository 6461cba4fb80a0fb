// The hit that a probe delivers.
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingRules
internal import W3CTrace

/// A hit that no client has reported. Its app, delivery, notification and subject are all
/// `sightline-try`, so that a backend can drop it; its hit id is another one each time.
package enum ProbeHit {
    /// What marks it.
    package static let mark = "sightline-try"

    /// A batch of it alone: an impression of Campaign Standard.
    ///
    /// - Parameters:
    ///   - tenant: whose hit it is: some backends have topics, subjects or servers by tenant.
    ///   - time: when it was received, in microseconds since 1970.
    package static func batch(
        tenant: String, time: Int64, using generator: inout some RandomNumberGenerator
    ) throws -> HitBatch {
        let event = Sightline_V1_TrackingEvent.with { event in
            event.eventID = Self.mark
            event.appID = Self.mark
            event.subjectID = Self.mark
            event.occurTime.seconds = time / 1_000_000
            event.trackAction.action = .impression
            event.trackAction.broadlogID = Self.mark
            event.trackAction.deliveryID = Self.mark
            event.trackAction.product = .standard
        }
        let bytes: [UInt8] = try event.serializedBytes()
        let key = HitKey(high: .random(in: 0 ... .max, using: &generator), low: generator.next())
        let trace = TraceContext.random(using: &generator)
        let payload = try bytes.withUnsafeBytes { bytes in
            HitEncoding.payload(
                of: try JournalEvent(
                    parsing: bytes, key: key, kinds: HitKinds(.impression), warnings: []),
                receiveTime: time, tenant: tenant, trace: trace)
        }
        // As a replay of its own: no backend moves a cursor by it, or knows it from another probe.
        let journal = HitBatch.replayJournal(String(key.high, radix: 16))
        return HitBatch(journal: journal, sequence: 1, payload: payload)
    }
}
