// What is remembered of rejections: field and rule, bounded, and nothing that a client sent.
@testable internal import AdminServer
@testable internal import Credentials
internal import GRPCCore
@testable internal import HTTP2Edge
@testable internal import ServerConfiguration
internal import ServerTestSupport
internal import SightlineProtos
internal import SwiftProtobuf
@testable internal import Telemetry
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules
@testable internal import TrackingServer

struct RejectionLogTests {
    private func request(_ events: [Sightline_V1_TrackingEvent]) throws -> AdmittedRequest {
        let bytes = try TestEvents.request(1, events)
        let admission = Admission()
        return bytes.withUnsafeBytes { buffer in
            admission.admit(
                admission.read(buffer, shape: .stream), bytes: buffer.count, tenant: "default",
                receiveTime: 0)
        }
    }

    private func withoutID() -> Sightline_V1_TrackingEvent { TestEvents.push("", .opened) }

    @Test("rejections of one field and rule are one row, with the time of the first and the last")
    func folded() throws {
        let log = RejectionLog(maxRows: 5)
        log.note(try self.request([self.withoutID(), self.withoutID()]), at: 10)
        log.note(try self.request([self.withoutID()]), at: 20)
        let row = try #require(log.latest.first)
        #expect(log.latest.count == 1)
        #expect(row.field == "push.fcm.data.message_id" && row.code == .required)
        #expect(row.count == 3 && row.firstTime == 10 && row.lastTime == 20)
    }

    @Test("what was accepted or suppressed leaves nothing")
    func others() throws {
        let log = RejectionLog(maxRows: 5)
        log.note(
            try self.request([TestEvents.push("h1"), TestEvents.push("h2", flag: "off")]), at: 1)
        #expect(log.latest == [])
    }

    @Test("a request that is no protobuf is a row too")
    func malformed() throws {
        let log = RejectionLog(maxRows: 5)
        log.note(try AdmittedRequest.malformed(1), at: 1)
        #expect(log.latest.map(\.code) == [.malformed])
    }

    @Test("it holds as many rows as it may, and of one more the least recent is gone")
    func limit() throws {
        let log = RejectionLog(maxRows: 2)
        var unknownKind = TestEvents.push("h1")
        unknownKind.push.kind = .UNRECOGNIZED(99)
        log.note(try self.request([self.withoutID()]), at: 1)
        log.note(try self.request([unknownKind]), at: 2)
        #expect(log.latest.map(\.code) == [.range, .required])
        log.note(try self.request([self.withoutID()]), at: 3)
        log.note(try AdmittedRequest.malformed(1), at: 4)
        #expect(log.latest.map(\.code) == [.malformed, .required])
        #expect(log.latest.map(\.count) == [1, 2])
    }

    @Test("an event that is to be sent again leaves nothing yet, a request that is refused does")
    func retried() throws {
        let log = RejectionLog(maxRows: 5)
        let ingest = Ingest(
            admission: Admission(),
            journal: try Journal(
                directory: "", sinks: [], configuration: .diskless, onFailure: { _ in }),
            budget: MemoryBudget(hardBytes: 1000, softPercent: 50),
            quotas: try TenantQuotas(QuotaConfiguration()), metrics: ServerMetrics(),
            rejections: log)
        var trace = RequestTrace(method: "a.B/C", metadata: [:])
        func settle(_ bytes: [UInt8], isToRetry: Bool) {
            let (request, _, _) = ingest.admit(
                RequestBuffer(bytes), shape: .stream, tenant: .standard, receiveTime: 7,
                trace: &trace)
            request.isToRetry = isToRetry
            ingest.count([request], of: .streamEvents, .standard)
        }
        let events = try TestEvents.request(1, [self.withoutID()])
        settle(events, isToRetry: true)
        #expect(log.latest == [])
        settle(events, isToRetry: false)
        settle([0xff], isToRetry: true)
        #expect(log.latest.map(\.code) == [.malformed, .required])
        #expect(log.latest.map(\.count) == [1, 1] && log.latest.map(\.lastTime) == [7, 7])
    }
}
