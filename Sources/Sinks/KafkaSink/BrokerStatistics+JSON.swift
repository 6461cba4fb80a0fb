#if Kafka
// The library's statistics are a document of JSON, of which a few numbers help an operator.
internal import Foundation
internal import SinkKit

extension BrokerStatistics {
    /// Reads the library's document; nil if it is another one.
    init?(json text: String) {
        // Statistics are not worth an error.
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(text.utf8))
        else { return nil }
        self.init()
        self.queuedHits = document.messages
        for broker in document.brokers.values {
            self.retries += broker.retries
            self.timeouts += broker.timeouts
            let roundTrip = Double(broker.roundTrip?.mean ?? 0) / 1e6
            self.roundTripSeconds = max(self.roundTripSeconds, roundTrip)
            if broker.state == "UP", broker.number >= 0 { self.connectedBrokers += 1 }
        }
    }

    private struct Document: Decodable {
        let messages: Int
        let brokers: [String: Broker]

        private enum CodingKeys: String, CodingKey {
            case messages = "msg_cnt"
            case brokers
        }
    }

    private struct Broker: Decodable {
        /// −1 for one that is known by the configuration alone.
        let number: Int
        let state: String
        let retries: Int
        let timeouts: Int
        let roundTrip: RoundTrip?

        private enum CodingKeys: String, CodingKey {
            case number = "nodeid"
            case state
            case retries = "txretries"
            case timeouts = "req_timeouts"
            case roundTrip = "rtt"
        }
    }

    private struct RoundTrip: Decodable {
        /// In microseconds.
        let mean: Int

        private enum CodingKeys: String, CodingKey { case mean = "avg" }
    }
}
#endif
