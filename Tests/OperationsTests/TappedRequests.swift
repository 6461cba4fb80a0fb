// Admitted requests as readers of verdicts are shown them.
@testable internal import Operations
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import TrackingRules

enum TappedRequests {
    /// A request that was admitted while somebody reads.
    static func admitted(
        _ events: [Sightline_V1_TrackingEvent], keeps: KeptRefusals = .all,
        receiveTime: Int64 = 1_000_000
    ) throws -> AdmittedRequest {
        let bytes: [UInt8] = try TestEvents.request(1, events)
        let admission = Admission()
        let request = bytes.withUnsafeBytes { buffer in
            admission.admit(
                admission.read(buffer, shape: .stream), bytes: buffer.count, tenant: "a",
                receiveTime: receiveTime, keeps: keeps)
        }
        request.isTapped = keeps == .all
        return request
    }
}

extension VerdictTap {
    /// A tap with some settings of its own.
    static func with(
        forgotten: ForgottenSubjects = ForgottenSubjects(),
        _ configure: (inout TapConfiguration) -> Void = { _ in }
    ) -> VerdictTap {
        var configuration = TapConfiguration()
        configure(&configuration)
        return VerdictTap(configuration, forgotten: forgotten)
    }

    /// A reader of tenant "a".
    func reader(
        _ configure: (inout Sightline_V1_TapRequest) -> Void = { _ in }
    ) throws -> TapReader {
        try self.read(
            try TapFilter(.with(configure), tenant: "a"), from: .tenant("a"))
    }
}

extension TapReader {
    /// All that waits.
    func takeAll() -> (events: [Sightline_V1_TappedEvent], missed: UInt64) {
        var all = (events: [Sightline_V1_TappedEvent](), missed: UInt64(0))
        while let response = self.take() {
            all.events += response.events
            all.missed += response.missedEvents
        }
        return all
    }
}
