#if Kafka
// `sightline sinks try`: whether the brokers take a test hit.
internal import CRdKafka
internal import Dispatch
package import SinkKit
internal import TrackingRules
internal import WireFormat

extension KafkaSink {
    /// Connects, asks for the cluster and the topic, connects to each broker that the cluster names
    /// and produces the test hit. Brokers take no message back: it stays.
    package func probe(_ hit: HitBatch) async -> [ProbeStep] {
        var steps = await self.probe()
        if steps.last?.outcome == .failed { return steps }
        let looked = await withCheckedContinuation { continuation in
            self.queue.async { continuation.resume(returning: self.lookUp(hit)) }
        }
        switch looked {
        case .failed(let step): return steps + [step]
        case .found(let metadata):
            steps += self.proven
            steps.append(await self.probe(metadata.brokers))
            if steps.last?.outcome == .failed { return steps }
            steps.append(Self.step(of: metadata))
            if steps.last?.outcome == .failed { return steps }
            steps.append(
                .write(
                    await self.deliver(hit), to: "the topic \(metadata.topic)",
                    fix: "docs/sinks/kafka.md says which rights the user needs, and what its "
                        + "errors mean"))
        }
        guard steps.last?.outcome == .worked else { return steps }
        return steps + [
            .skipped(
                "removal",
                "Kafka takes no message back: consumers drop it by ce-subject \(ProbeHit.mark)")
        ]
    }

    private enum Looked: Sendable {
        case found(KafkaMetadata)
        case failed(ProbeStep)
    }

    /// The steps `name` and `connection` of the first broker in the configuration that accepts.
    private func probe() async -> [ProbeStep] {
        var failures: [ProbeStep] = []
        for (host, port) in KafkaBrokerList.hosts(of: self.configuration.brokers) {
            let steps = await HostProbe(
                host: host, port: port, key: "kafka.brokers",
                timeout: self.configuration.connectTimeout
            ).steps()
            if steps.last?.outcome != .failed { return steps }
            failures += steps
        }
        return failures
    }

    /// The step `brokers`: the cluster may name others than the configuration does.
    private func probe(_ brokers: [(host: String, port: Int)]) async -> ProbeStep {
        for (host, port) in brokers {
            let steps = await HostProbe(
                host: host, port: port, key: "the brokers' advertised.listeners",
                timeout: self.configuration.connectTimeout
            ).steps()
            guard let last = steps.last, last.outcome == .failed else { continue }
            return .failed(
                "brokers", "the cluster names \(host):\(port), but \(last.text)",
                fix:
                    "the brokers' advertised.listeners have to be addresses that can be reached "
                    + "from here")
        }
        let names = brokers.map { "\($0.host):\($0.port)" }.joined(separator: ", ")
        return .worked("brokers", "the cluster has \(names)")
    }

    /// On the queue. Asks until a broker answers, or tells that it never will.
    private func lookUp(_ hits: HitBatch) -> Looked {
        let end =
            ContinuousClock.now + self.configuration.connectTimeout
            + self.configuration.requestTimeout
        do {
            let producer = try self.usableProducer()
            let topic = try self.topic(of: hits)
            while true {
                do {
                    return .found(try producer.metadata(ofTopic: topic, milliseconds: 500))
                } catch let failure as KafkaFailure {
                    self.poll()
                    let isRefused = producer.trouble?.error.isOfCredentials == true
                    guard isRefused || ContinuousClock.now >= end else { continue }
                    return .failed(Self.step(of: producer.trouble, or: failure))
                }
            }
        } catch {
            return .failed(.failed("brokers", "\(error)", fix: "look at kafka.* for it"))
        }
    }

    private func topic(of hits: HitBatch) throws -> String {
        var name = ""
        try hits.forEach { _, hit in
            name = self.template.name(tenant: hit.origin.tenant.text, kind: "\(hit.kind.name)")
        }
        return name
    }

    /// The steps that an answer of a broker proves.
    private var proven: [ProbeStep] {
        var steps: [ProbeStep] = []
        if self.configuration.isTLS {
            steps.append(.worked("TLS", "the broker's certificate is accepted"))
        }
        let isAsked = self.configuration.mechanism != .none
        let user = self.configuration.user
        steps.append(
            .worked(
                "credentials",
                isAsked ? "the password of \(user) is accepted" : "the brokers ask for none"))
        return steps
    }

    /// Why no broker has answered.
    private static func step(
        of trouble: (error: rd_kafka_resp_err_t, reason: String)?, or failure: KafkaFailure
    ) -> ProbeStep {
        guard let trouble else {
            return .failed(
                "brokers", "\(failure)", fix: "check that Kafka brokers listen at kafka.brokers"
            )
        }
        // A listener without TLS just ends the connection. Whether librdkafka calls it a failed
        // handshake or a lost connection then depends on which of the two it notices first.
        let isOfTLS =
            trouble.error == RD_KAFKA_RESP_ERR__SSL
            || ["SSL handshake", "state SSL_HANDSHAKE"].contains { trouble.reason.contains($0) }
        if isOfTLS {
            return .failed(
                "TLS", trouble.reason,
                fix:
                    "check that the listener takes TLS, and kafka.tls.roots; the certificate has "
                    + "to be valid for the host in kafka.brokers")
        }
        if trouble.error.isOfCredentials {
            return .failed(
                "credentials", trouble.reason,
                fix:
                    "compare kafka.sasl.mechanism, kafka.sasl.user and kafka.sasl.password_file "
                    + "with the brokers' users")
        }
        let isMute = trouble.error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN
        return .failed(
            "brokers",
            isMute ? "a connection is made, and ends without an answer" : trouble.reason,
            fix:
                "kafka.tls.enabled and kafka.sasl.mechanism have to be what the listener asks for"
        )
    }

    private static func step(of metadata: KafkaMetadata) -> ProbeStep {
        let error = metadata.topicError
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR else {
            return .failed(
                "topic", "\(metadata.topic): \(error.text)",
                fix: error.advice ?? "look at the topic's partitions and their leaders")
        }
        return .worked("topic", "\(metadata.topic) has \(metadata.partitionCount) partitions")
    }
}
#endif
