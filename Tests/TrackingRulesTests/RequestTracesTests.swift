// The traces of a request's events, and of a payload's requests.
internal import SightlineProtos
internal import SwiftProtobuf
internal import Testing
@testable internal import TrackingRules
@testable internal import W3CTrace

struct RequestTracesTests {
    private static func trace(_ span: Int) -> String {
        let digits = String(span, radix: 16)
        return "00-0af7651916cd43dd8448eb211c80319c-"
            + String(repeating: "0", count: 16 - digits.count) + digits + "-01"
    }

    /// A request of one event per traceparent; an empty one is none.
    private func request(_ traceparents: [String]) throws -> AdmittedRequest {
        try Self.admit(
            .with { request in
                request.events = traceparents.enumerated().map { index, traceparent in
                    .with { event in
                        event.trackAction.action = .open
                        event.trackAction.deliveryID = "56c4"
                        event.trackAction.broadlogID = "h\(index)"
                        event.traceContext.traceparent = traceparent
                        event.traceContext.tracestate = "a=b"
                    }
                }
            })
    }

    private static func admit(
        _ request: Sightline_V1_RecordEventsRequest
    ) throws -> AdmittedRequest {
        let bytes: [UInt8] = try request.serializedBytes()
        let admission = Admission()
        return bytes.withUnsafeBytes { buffer in
            admission.admit(
                admission.read(buffer, shape: .unary), bytes: buffer.count, tenant: "default",
                receiveTime: 1_800_000_000_000_000)
        }
    }

    @Test("each event's own trace is found once, in order, up to a limit")
    func eventTraces() throws {
        let request = try self.request([
            "", Self.trace(1), Self.trace(2), "nonsense", Self.trace(1), Self.trace(3),
        ])
        #expect(request.acceptedEvents.count == 6)
        #expect(request.eventTraces(limit: 10).map(\.spanID) == [1, 2, 3])
        #expect(request.eventTraces(limit: 10).allSatisfy { $0.tracestate == "a=b" })
        #expect(request.eventTraces(limit: 2).map(\.spanID) == [1, 2])
        #expect(request.eventTraces(limit: 0).isEmpty)
        #expect(request.trace?.spanID == 1)
    }

    /// A block as the journal has it.
    private func block(span: UInt64?, events: Int, state: String = "") throws -> [UInt8] {
        let request = try self.request(Array(repeating: "", count: events))
        let trace = span.map { span in
            TraceContext(
                traceID: .init(high: 1, low: 2), spanID: span, isSampled: true, tracestate: state)
        }
        return HitEncoding.header(
            entryCount: events, entriesBytes: request.entries.count, receiveTime: 3,
            tenant: "default", trace: trace) + request.entries
    }

    private func spans(of payload: [UInt8], upTo limit: Int = .max) -> [UInt64] {
        var spans: [UInt64] = []
        payload.withUnsafeBytes { payload in
            HitEncoding.forEachTrace(in: payload) { trace in
                spans.append(trace.spanID)
                return spans.count < limit
            }
        }
        return spans
    }

    @Test("a payload's traces are its blocks', in order, until nobody wants more")
    func payloadTraces() throws {
        let payload =
            try self.block(span: 1, events: 3) + self.block(span: 2, events: 1, state: "a=b")
            + self.block(span: 3, events: 2)
        #expect(self.spans(of: payload) == [1, 2, 3])
        #expect(self.spans(of: payload, upTo: 2) == [1, 2])
        #expect(self.spans(of: []).isEmpty)
    }

    @Test("a request without a trace hides no other's")
    func untraced() throws {
        let payload =
            try self.block(span: nil, events: 1) + self.block(span: 2, events: 1)
            + self.block(span: nil, events: 2) + self.block(span: 4, events: 1)
        #expect(self.spans(of: payload) == [2, 4])
    }

    @Test("a payload cut anywhere gives the traces of its whole blocks, and never traps")
    func cutPayload() throws {
        let first = try self.block(span: 1, events: 2)
        let payload = try first + self.block(span: 2, events: 1)
        for length in 0...payload.count {
            let expected: [UInt64] =
                length == payload.count ? [1, 2] : length >= first.count ? [1] : []
            #expect(self.spans(of: Array(payload.prefix(length))) == expected)
        }
    }
}
