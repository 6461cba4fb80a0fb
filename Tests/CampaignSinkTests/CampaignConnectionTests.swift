// What becomes of a request whose connection ends: it may have been counted.
internal import CampaignSink
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import TestSupport
internal import Testing

@Suite("a connection to Campaign that ends without an answer, or within one")
struct CampaignConnectionTests {
    private func sink(_ receiver: TestReceiver) -> CampaignSink {
        var configuration = CampaignConfiguration()
        configuration.servers["default"] = CampaignServers(
            standard: "http://127.0.0.1:\(receiver.port)")
        configuration.standardTimeout = .seconds(300)
        return CampaignSink(configuration)
    }

    @Test("is no reason for the client to send again by itself, also if it was a kept one")
    func keptConnection() async throws {
        let receiver = try TestReceiver([.answer(200), .close, .answer(200)])
        let sink = self.sink(receiver)
        let batches = try (1...2).map {
            try TestHits.batch([TestEvents.full(id: $0)], sequence: Int64($0))
        }
        #expect(await sink.deliver(batches[0]) == .delivered)
        guard case .unavailable = await sink.deliver(batches[1]) else {
            Issue.record("a request without an answer was taken for delivered")
            return
        }
        #expect(receiver.requests.map(\.connection) == [1, 1])
        #expect(await sink.deliver(batches[1]) == .delivered)
        #expect(receiver.requests.map(\.connection) == [1, 1, 2])
        #expect(Set(receiver.requests.map(\.line)).count == 2)
    }

    @Test(
        "takes no longer than its server may, although its status stands",
        .timeLimit(.minutes(10)))
    func stalledBody() async throws {
        let receiver = try TestReceiver(Array(repeating: .head, count: 100))
        var configuration = CampaignConfiguration()
        configuration.servers["default"] = CampaignServers(
            standard: "http://127.0.0.1:\(receiver.port)")
        configuration.standardTimeout = .milliseconds(300)
        configuration.classicTimeout = .seconds(300)
        let sink = CampaignSink(configuration)
        let batch = try TestHits.batch([TestEvents.full(id: 1)], sequence: 1)
        // On a busy machine a head may be late as well.
        var answers = [await sink.deliver(batch)]
        while answers.last != .delivered, answers.count < 100 {
            answers.append(await sink.deliver(batch))
        }
        #expect(answers.last == .delivered)
    }
}
