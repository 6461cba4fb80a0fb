internal import Foundation
internal import SightlineProtos
internal import SwiftProtobuf
internal import WireFormat

extension Answer {
    /// The answer as it goes to the client.
    ///
    /// - Parameters:
    ///   - isReporting: whether it tells of accepted events too.
    ///   - plan: says which fields it has that this version does not know.
    func message(
        isReporting: Bool, plan: StreamPlan
    ) throws -> Sightline_V1_StreamEventsResponse {
        var message = Sightline_V1_StreamEventsResponse()
        message.durableSequence = self.watermark
        message.results = self.results(isReporting: isReporting)
        if !self.told.isEmpty { message.tally = self.tally }
        if let limits {
            message.limits.maxEvents = UInt32(limits.maxEvents)
            message.limits.maxRequestBytes = UInt32(limits.maxRequestBytes)
            message.limits.maxEventBytes = 16 << 10
            message.limits.maxUnacknowledgedRequests = UInt32(limits.maxRequests)
        }
        if let closingGrace {
            message.closing.grace = Google_Protobuf_Duration(closingGrace)
        }
        if let retryDelay { message.retryDelay = Google_Protobuf_Duration(retryDelay) }
        let unknown =
            (plan.isNewer ? Self.unknownFields : [])
            + (self.limits == nil ? [] : Self.padding(plan.paddingBytes))
        if unknown.isEmpty { return message }
        let bytes: [UInt8] = try message.serializedBytes()
        return try Sightline_V1_StreamEventsResponse(serializedBytes: bytes + unknown)
    }

    /// Field 1000 as a number, and field 1001 as bytes.
    private static let unknownFields: [UInt8] = [0xC0, 0x3E, 0x2A, 0xCA, 0x3E, 0x02, 0x6E, 0x65]

    /// Field 1002 with so many bytes.
    private static func padding(_ count: Int) -> [UInt8] {
        guard count > 0 else { return [] }
        var field: [UInt8] = []
        field.appendField(1002 << 3 | 2, [UInt8](repeating: 0, count: count))
        return field
    }

    private func results(isReporting: Bool) -> [Sightline_V1_EventResult] {
        var refused: Set<UInt64> = []
        return self.told.compactMap { told in
            var result = Sightline_V1_EventResult()
            result.sequence = told.sequence
            result.verdict = told.verdict
            guard let index = told.index else {
                return refused.insert(told.sequence).inserted ? result : nil
            }
            guard told.verdict != .accepted || isReporting else { return nil }
            result.index = index
            result.eventID = told.id
            if told.verdict == .accepted { result.hits = [.open] }
            return result
        }
    }

    private var tally: Sightline_V1_Tally {
        var tally = Sightline_V1_Tally()
        for told in self.told {
            switch told.verdict {
            case .accepted: tally.accepted += 1
            case .duplicate: tally.duplicate += 1
            case .rejected: tally.rejected += 1
            case .retryLater: tally.retryLater += 1
            case .suppressedFlagOff, .suppressedFlagUnknown, .suppressedConsent,
                .suppressedTestMessage, .suppressedDisplay:
                tally.suppressed += 1
            // A newer server would count it in a field of its own.
            case .unspecified, .UNRECOGNIZED: break
            }
        }
        return tally
    }
}

extension Google_Protobuf_Duration {
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init(seconds: seconds, nanos: Int32(attoseconds / 1_000_000_000))
    }
}
