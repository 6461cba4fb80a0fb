#if Kafka
// `sightline sinks try`: whether the brokers take a test hit.
package import SinkKit

extension KafkaSink {
    /// The brokers of the configuration.
    package var probedHosts: [HostProbe] {
        KafkaBrokerList.hosts(of: self.configuration.brokers).map { host, port in
            HostProbe(
                host: host, port: port, key: "kafka.brokers",
                roots: self.configuration.isTLS ? "kafka.tls.roots" : nil,
                timeout: self.configuration.connectTimeout)
        }
    }

    /// Produces the test hit. Brokers take no message back: it stays.
    package func probe(_ hit: HitBatch) async -> [ProbeStep] {
        let write = ProbeStep.write(
            await self.deliver(hit), to: "the topic \(self.configuration.topic)",
            fix:
                "kafka.tls.enabled and kafka.sasl.mechanism have to be what the listener asks for, "
                + "and the brokers' advertised.listeners addresses that can be reached from here; "
                + "docs/sinks/kafka.md says which rights the user needs")
        guard write.outcome == .worked else { return [write] }
        return [
            write,
            .skipped(
                "removal",
                "Kafka takes no message back: consumers drop it by ce-subject \(ProbeHit.mark)"),
        ]
    }
}
#endif
