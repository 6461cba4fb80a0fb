internal import Credentials
internal import GRPCCore
internal import HTTP2Edge
internal import HTTPTypes
package import Logging
internal import NIOCore
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingRules
internal import WireFormat

/// Takes what Campaign's SDKs in apps in the store send, `/r/?id=…`, as TrackActions.
///
/// An SDK knows 200 as success, and 408, 503 and 504 as a reason to send again; everything else
/// loses its hit for good. So the answer is 200 for what is durable or need not come again, 503 for
/// what has to, and 404 for what is no postback.
package struct PostbackDoor: DoorHandler {
    private let configuration: PostbackConfiguration
    private let calls: any CallServing
    private let upstream: any UpstreamForwarding
    private let quotas: AddressQuotas
    private let mirrored = MirroredRecords()
    private let clock: any Clock<Duration>
    private let log: PostbackLog
    private let onPostback: @Sendable (PostbackOutcome) -> Void
    private let onUpstream: @Sendable (UpstreamOutcome) -> Void

    /// The path of a postback.
    static let path = "/r/"

    /// Creates a door.
    ///
    /// - Parameters:
    ///   - upstream: passes on what is no postback; `PostbackUpstream`, or a test's.
    ///   - onPostback: called once for each request to `/r/`.
    ///   - onUpstream: called once for each request that is passed on.
    ///   - now: a monotonic clock in nanoseconds; tests substitute it.
    ///   - clock: measures how long an answer waits for its record; tests substitute it.
    package init(
        _ configuration: PostbackConfiguration, calls: any CallServing,
        upstream: any UpstreamForwarding, logger: Logger,
        now: @escaping @Sendable () -> UInt64 = MonotonicClock.nanoseconds,
        clock: any Clock<Duration> = ContinuousClock(),
        onPostback: @escaping @Sendable (PostbackOutcome) -> Void = { _ in },
        onUpstream: @escaping @Sendable (UpstreamOutcome) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.calls = calls
        self.upstream = upstream
        self.quotas = AddressQuotas(rate: configuration.perAddressPerSecond, now: now)
        self.clock = clock
        self.log = PostbackLog(logger: logger, hosts: configuration.hosts.count)
        self.onPostback = onPostback
        self.onUpstream = onUpstream
    }

    /// Whether it is for `/r/`, or for a host whose other requests are passed on. Without
    /// `postback.hosts` none is.
    package func takes(_ request: DoorRequest) -> Bool {
        if self.configuration.hosts.isEmpty { return false }
        return request.path == Self.path || self.server(for: request) != nil
    }

    /// The answer.
    package func answer(_ request: DoorRequest) async -> DoorResponse {
        guard let host = self.configuration.hosts[ExactText(request.host)] else {
            return self.refuse(request, .unknownHost)
        }
        guard request.path == Self.path else {
            // `takes` lets through no other path without a server.
            guard let server = self.server(for: request) else { return Self.notFound }
            return await self.passOn(request, to: server)
        }
        do throws(ReceivedPostback.Refusal) {
            let postback = try self.postback(request, host)
            guard self.configuration.isMirroring, let server = self.server(for: request) else {
                return await self.answer(postback, request, host)
            }
            // Both at once: the SDK's time is short, and each side counts by itself.
            let record = self.mirror(postback, request, host)
            let answer = await self.passOn(request, to: server)
            if let record { await MirroredRecords.wait(for: record, clock: self.clock) }
            return answer
        } catch {
            let outcome: PostbackOutcome =
                error == .otherProduct ? .otherProduct : .unreadable
            guard let server = self.server(for: request) else {
                return self.refuse(request, outcome)
            }
            self.onPostback(outcome)
            return await self.passOn(request, to: server)
        }
    }

    private func postback(
        _ request: DoorRequest, _ host: PostbackHost
    ) throws(ReceivedPostback.Refusal) -> ReceivedPostback {
        switch request.method {
        case .get, .post, .head:
            // A body says nothing more: rules of the console that post have `{}` there.
            return try ReceivedPostback(request.query ?? "", product: host.product)
        default: throw .unreadable
        }
    }

    private func server(for request: DoorRequest) -> String? {
        self.configuration.hosts[ExactText(request.host)]
            .flatMap { self.configuration.upstream(of: $0) }
    }
}

// MARK: Recording

extension PostbackDoor {
    private func answer(
        _ postback: ReceivedPostback, _ request: DoorRequest, _ host: PostbackHost
    ) async -> DoorResponse {
        if let answer = self.answerWithoutRecord(to: request) { return answer }
        let outcome = await self.record(self.call(postback, request, host))
        self.onPostback(outcome)
        return outcome == .retry ? Self.again : Self.taken
    }

    /// Records a postback beside the upstream's answer.
    ///
    /// - Returns: a stream that ends with the record; nil if there is none.
    private func mirror(
        _ postback: ReceivedPostback, _ request: DoorRequest, _ host: PostbackHost
    ) -> AsyncStream<Never>? {
        if self.answerWithoutRecord(to: request) != nil { return nil }
        var call = self.call(postback, request, host)
        // The request's counter closes with the upstream's answer, and would end the call with it.
        // Without one the call has shares of its own, where there is room: the places bound it.
        call.peer.callMetadata = [:]
        let record = self.mirrored.begin(of: request) { [call] in
            self.onPostback(await self.record(call))
        }
        if record == nil { self.onPostback(.retry) }
        return record
    }

    /// The answer to what is not recorded, which is counted then; nil for everything else.
    private func answerWithoutRecord(to request: DoorRequest) -> DoorResponse? {
        if request.method == .head {
            self.onPostback(.head)
            return Self.taken
        }
        if self.quotas.takes(request.peer) { return nil }
        self.log.note(request, .throttled)
        self.onPostback(.throttled)
        return Self.again
    }

    private func call(
        _ postback: ReceivedPostback, _ request: DoorRequest, _ host: PostbackHost
    ) -> DoorCall {
        let platform = request.headers.value(.userAgent).flatMap { Platform(userAgent: $0) }
        var call = DoorCall(
            method: Sightline_V1_TrackingService.Method.RecordEvents.descriptor, metadata: [:],
            message: postback.request(of: host, platform: platform), peer: request.peer)
        call.principal = .host(of: host.tenant)
        return call
    }

    private func record(_ call: DoorCall) async -> PostbackOutcome {
        let answer = await self.calls.serve(call)
        // Whatever else fails may work later. A postback that came again is known by its hit.
        guard let message = answer.message,
            let response = try? Sightline_V1_RecordEventsResponse(
                serializedBytes: Array(message.readableBytesView)),
            let verdict = response.results.first?.verdict
        else { return .retry }
        switch verdict {
        case .accepted: return .recorded
        case .duplicate: return .duplicate
        case .retryLater, .unspecified, .UNRECOGNIZED: return .retry
        case .rejected, .suppressedConsent, .suppressedDisplay, .suppressedFlagOff,
            .suppressedFlagUnknown, .suppressedTestMessage:
            return .refused
        }
    }

    private func refuse(_ request: DoorRequest, _ outcome: PostbackOutcome) -> DoorResponse {
        self.log.note(request, outcome)
        self.onPostback(outcome)
        return Self.notFound
    }

    /// It need not come again.
    private static let taken = Self.response(.ok)
    /// It has to come again.
    private static let again = Self.response(.serviceUnavailable)
    /// It is no postback.
    private static let notFound = Self.response(.notFound)

    private static func response(_ status: HTTPResponse.Status) -> DoorResponse {
        DoorResponse(status: status, headers: [.cacheControl: "no-store"])
    }
}

// MARK: Passing on

extension PostbackDoor {
    private func passOn(_ request: DoorRequest, to server: String) async -> DoorResponse {
        let (response, outcome) = await self.upstream.answer(request, by: server)
        self.onUpstream(outcome)
        if let response { return response }
        return outcome == .unfit ? Self.notFound : Self.again
    }
}
