// What `sightline sinks try` finds out without a server of its own.
internal import Foundation
internal import ServerConfiguration
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import TestSupport
internal import Testing

@Suite("the probe of a sink")
struct ProbeTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private func hit(seed: UInt64 = 1, tenant: String = "acme") throws -> HitBatch {
        var generator = Dice(seed: seed)
        return try ProbeHit.batch(tenant: tenant, time: TestHits.receiveTime, using: &generator)
    }

    @Test("the test hit is marked everywhere, and its id is another one each time")
    func mark() throws {
        let record = try #require(try self.hit().records.first)
        #expect(try self.hit().records.count == 1)
        #expect(record.kind == .impression)
        #expect(record.tenant == "acme")
        #expect(record.deliveryID == "sightline-try")
        #expect(record.broadlogID == "sightline-try")
        #expect(record.event.appID == "sightline-try")
        #expect(record.event.subjectID == "sightline-try")
        #expect(record.receiveTime.seconds == TestHits.receiveTime / 1_000_000)
        let others = try (2...9).map { try self.hit(seed: $0).records.map(\.hitID) }
        #expect(Set(others).count == 8)
    }

    @Test(
        "every sink that answers has the test hit, but Campaign", arguments: TestedSink.all)
    func everySink(sink: TestedSink) async throws {
        let opened = try await sink.open(self.directory)
        let steps = await opened.stepsOfProbe(try self.hit())
        #expect(steps.allSatisfy { $0.outcome != .failed }, "\(steps)")
        let write = steps.last { $0.name == "write" }
        #expect(write?.outcome == (sink.kind == .campaign ? .skipped : .worked))
        if sink.kind == .postgresql {
            // Not even the tables: they were created in the transaction that was rolled back.
            let database = TestDatabase(try .test(self.directory))
            #expect(try database.value("SELECT to_regclass('hits') IS NULL") == "t")
            return
        }
        // Campaign was asked, but for nothing that counts.
        let kept = try sink.readBack(self.directory).filter { $0.id != Data() }
        #expect(kept.count == (sink.keepsProbeHit ? 1 : 0))
    }

    @Test(
        "an answer becomes a sentence",
        arguments: [
            (SinkAnswer.delivered, ProbeStep.worked("write", "the table has the test hit")),
            (
                .unavailable(reason: "no disk"),
                .failed("write", "no disk", fix: "buy one")
            ),
            (
                .rejected([0: "too odd"]),
                .failed("write", "the test hit is refused: too odd", fix: "buy one")
            ),
            (.dataLoss(reason: "gone"), .failed("write", "gone", fix: "buy one")),
        ])
    func answer(_ answer: SinkAnswer, _ step: ProbeStep) {
        #expect(ProbeStep.write(answer, to: "the table", fix: "buy one") == step)
    }

    @Test("a host that is not known, and a port where nobody listens")
    func nobody() async throws {
        let unknown = await HostProbe(host: "no-such-host.invalid", port: 1, key: "a.url").steps()
        #expect(unknown.map(\.name) == ["name"])
        #expect(unknown.first?.text.contains("no-such-host.invalid") == true)
        #expect(unknown.first?.fix?.contains("a.url") == true)
        // Port 1 is given to nobody here.
        let refused = await HostProbe(host: "127.0.0.1", port: 1, key: "a.url").steps()
        #expect(refused.map(\.outcome) == [.worked, .failed])
        #expect(refused.last?.text == "127.0.0.1:1: Connection refused")
    }

    @Test(
        "of a delivery over TLS, a failure that it tells of is one of TLS",
        arguments: [
            (nil, ProbeStep.worked("write", "it has it"), ["name", "connection", "write"]),
            ("a.roots", .worked("write", "it has it"), ["name", "connection", "TLS", "write"]),
            (
                "a.roots", .failed("write", "no such user", fix: "f"),
                ["name", "connection", "write"]
            ),
            (
                "a.roots", .failed("write", "certificate verify failed", fix: "f"),
                ["name", "connection", "TLS"]
            ),
            (
                "a.roots", .failed("write", "Secure Connection not available", fix: "f"),
                ["name", "connection", "TLS"]
            ),
            (
                nil, .failed("write", "the certificate of the user is needed", fix: "f"),
                ["name", "connection", "write"]
            ),
        ] as [(String?, ProbeStep, [String])])
    func tls(_ roots: String?, _ delivery: ProbeStep, _ names: [String]) async throws {
        let listener = try SilentListener()
        // The first one is passed over, since another one serves.
        let hosts = [1, Int(listener.port)].map {
            HostProbe(host: "127.0.0.1", port: $0, key: "a.url", roots: roots)
        }
        let steps = await HostProbe.steps(ofOne: hosts) { [delivery] }
        #expect(steps.map(\.name) == names)
        #expect(steps.last?.outcome == delivery.outcome)
        if names.last == "TLS" { #expect(steps.last?.fix?.contains("a.roots") == true) }
        withExtendedLifetime(listener) {}
    }
}
