@testable internal import Operations
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules

struct VerdictTapTests {
    /// Who reads already, and why the next one is refused; nil if it is not.
    struct Row: Sendable {
        let readers: [TapOrigin]
        let next: TapOrigin
        let refusal: TapRefusal?
    }

    private static let (a, b, c, d) = (
        TapOrigin.tenant("a"), TapOrigin.tenant("b"), TapOrigin.tenant("c"), TapOrigin.tenant("d")
    )

    @Test(
        "readers are refused beyond tap.max_readers and a tenant's share, the socket apart",
        arguments: [
            Row(readers: [a], next: a, refusal: nil),
            Row(
                readers: [a, a], next: a,
                refusal: .exceeded(2, key: "tap.max_readers_per_tenant")),
            Row(readers: [a, a], next: b, refusal: nil),
            Row(readers: [a, a, b], next: b, refusal: .exceeded(3, key: "tap.max_readers")),
            // Of three tenants each may have one in any case, and of four none.
            Row(readers: [a, a, b], next: c, refusal: nil),
            Row(readers: [a, a, b, c], next: d, refusal: .exceeded(3, key: "tap.max_readers")),
            Row(readers: [a, a, b], next: .operatorSocket, refusal: nil),
            Row(
                readers: [.operatorSocket, .operatorSocket], next: .operatorSocket, refusal: nil),
            Row(
                readers: [.operatorSocket, .operatorSocket, .operatorSocket],
                next: .operatorSocket, refusal: .exceeded(3, key: "tap.max_readers")),
            Row(
                readers: [.operatorSocket, .operatorSocket, .operatorSocket], next: a,
                refusal: nil),
        ])
    func limits(_ row: Row) throws {
        let tap = VerdictTap.with { ($0.maxReaders, $0.maxReadersPerTenant) = (3, 2) }
        let filter = try TapFilter(Sightline_V1_TapRequest(), tenant: nil)
        let readers = try row.readers.map { try tap.read(filter, from: $0) }
        withExtendedLifetime(readers) {
            do throws(TapRefusal) {
                _ = try tap.read(filter, from: row.next)
                #expect(row.refusal == nil)
            } catch {
                #expect(error == row.refusal)
            }
        }
    }

    @Test("a reader that is let go of leaves its place, and the last one ends the keeping")
    func release() throws {
        let tap = VerdictTap.with { $0.maxReadersPerTenant = 1 }
        #expect(!tap.hasReaders)
        do {
            let reader = try tap.reader()
            withExtendedLifetime(reader) { #expect(tap.hasReaders) }
        }
        #expect(!tap.hasReaders)
        let next = try tap.reader()
        withExtendedLifetime(next) { #expect(tap.hasReaders) }
    }

    @Test("a closed tap ends its readers once they have taken what waits, and admits none")
    func close() async throws {
        let tap = VerdictTap.with()
        let reader = try tap.reader()
        tap.show([try TappedRequests.admitted([TestEvents.push("h1")])], of: "a")
        tap.close()
        var wakes = 0
        for await _ in reader.wakes { wakes += 1 }
        #expect(wakes == 1)
        #expect(reader.takeAll().events.count == 1)
        #expect(throws: TapRefusal.closed) { _ = try tap.reader() }
    }

    @Test("each tenant's reader sees that tenant's events alone, and one of all tenants sees all")
    func tenants() throws {
        let tap = VerdictTap.with()
        let own = try tap.reader()
        let all = try tap.read(
            try TapFilter(Sightline_V1_TapRequest(), tenant: nil), from: .operatorSocket)
        for tenant in ["a", "b"] {
            tap.show([try TappedRequests.admitted([TestEvents.push(tenant)])], of: tenant)
        }
        #expect(own.takeAll().events.map(\.tenant) == ["a"])
        #expect(all.takeAll().events.map(\.tenant) == ["a", "b"])
    }

    @Test("a request that was admitted before anybody read is not shown")
    func untapped() throws {
        let tap = VerdictTap.with()
        let reader = try tap.reader()
        tap.show([try TappedRequests.admitted([TestEvents.push("h1")], keeps: .none)], of: "a")
        #expect(reader.take() == nil)
    }

    @Test("an event that is to be sent again is shown as its client is told, whoever refused it")
    func retried() throws {
        let tap = VerdictTap.with()
        let reader = try tap.reader()
        let request = try TappedRequests.admitted([
            TestEvents.push("h1"), TestEvents.push("no good"), TestEvents.push("h2", flag: "off"),
        ])
        request.isToRetry = true
        tap.show([request], of: "a")
        let events = reader.takeAll().events
        #expect(events.map(\.verdict) == [.retryLater, .retryLater, .retryLater])
        #expect(events.allSatisfy { $0.violations.isEmpty })
    }

    @Test("events wait up to tap.queue_bytes, and those beyond are missed, counted and told last")
    func queueBytes() throws {
        // An event without violations counts 512 bytes.
        for (bytes, shown) in [(3 * 512, 3), (3 * 512 - 1, 2), (4 * 512 - 1, 3)] {
            let tap = VerdictTap.with { $0.queueBytes = bytes }
            let reader = try tap.reader()
            let events = (0..<5).map { TestEvents.push("h\($0)") }
            tap.show([try TappedRequests.admitted(events)], of: "a")
            let taken = reader.takeAll()
            #expect(taken.events.count == shown)
            #expect(taken.missed == UInt64(5 - shown))
            // There is room again.
            tap.show([try TappedRequests.admitted([TestEvents.push("later")])], of: "a")
            #expect(reader.takeAll().events.count == 1)
        }
    }

    @Test("a reader is shown tap.events_per_second in a second, and one more is missed")
    func eventsPerSecond() {
        var configuration = TapConfiguration()
        configuration.eventsPerSecond = 2
        var queue = TapQueue(configuration)
        let outcome = AdmittedRequest.Outcome.rejected
        for second: UInt64 in [7, 7, 7, 8, 8, 8, 8] {
            queue.offer(second: second) { outcome }
        }
        let (events, missed) = queue.take()
        #expect(events.count == 4)
        #expect(missed == 3)
        #expect(queue.isEmpty)
    }

    @Test("a response has at most 256 KiB of events, and the missed are told with the last")
    func responses() throws {
        let tap = VerdictTap.with { ($0.queueBytes, $0.eventsPerSecond) = (600 * 512, 10_000) }
        let reader = try tap.reader()
        tap.show(
            [try TappedRequests.admitted((0..<601).map { TestEvents.push("h\($0)") })], of: "a")
        let first = try #require(reader.take())
        let second = try #require(reader.take())
        #expect([first.events.count, second.events.count] == [512, 88])
        #expect([first.missedEvents, second.missedEvents] == [0, 1])
        #expect(reader.take() == nil)
    }
}

extension AdmittedRequest.Outcome {
    fileprivate static var rejected: TappedOutcome {
        TappedOutcome(
            AdmittedRequest.Outcome(
                verdict: .rejected, hits: [], warnings: [], violations: [], event: nil,
                source: .none, chance: 0),
            nil, tenant: "a", receiveTime: 0, isUnmasked: false)
    }
}
