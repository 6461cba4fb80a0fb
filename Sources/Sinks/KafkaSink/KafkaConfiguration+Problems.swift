// What contradicts itself in the keys of the kafka sink.
package import ConfigurationKeys
package import SinkKit

extension KafkaConfiguration: SinkConfiguration {
    #if !Kafka
    /// Why a program that was built without the trait cannot have this sink.
    package static let absence: String? =
        "this program was built without it: swift build --traits Kafka"
    #endif

    /// Refuses what contradicts itself.
    package func check(
        _ problems: inout ConfigurationProblems<Self>, of sink: SinkInConfiguration
    ) {
        if !KafkaBrokerList.isValid(self.brokers) {
            problems.refuse(\.brokers, KafkaBrokerList.rule)
        }
        if KafkaTopicTemplate(self.topic) == nil {
            problems.refuse(\.topic, KafkaTopicTemplate.rule)
        }
        if self.deliveryTimeout <= self.requestTimeout {
            problems.refuse(
                \.deliveryTimeout,
                "has to be at least \(self.requestTimeout.components.seconds + 1): a broker that "
                    + "hangs is found out after \(Self.name(of: \.requestTimeout))")
        }
        if self.maxQueuedBytes < self.maxMessageBytes {
            problems.refuse(
                \.maxQueuedBytes,
                "has to be at least \(Self.name(of: \.maxMessageBytes)), which is "
                    + "\(self.maxMessageBytes)")
        }
        self.checkTLS(&problems)
        self.checkSASL(&problems)
    }

    private func checkTLS(_ problems: inout ConfigurationProblems<Self>) {
        problems.refuse(\.tlsCertificate, without: \.tlsKey, in: self)
        problems.refuse(\.tlsKey, without: \.tlsCertificate, in: self)
        problems.refuse(\.tlsKeyPasswordFile, without: \.tlsKey, in: self)
        if self.isTLS { return }
        let files = [\Self.tlsRoots, \.tlsCertificate, \.tlsKey, \.tlsKeyPasswordFile]
        for file in files where !self[keyPath: file].isEmpty {
            problems.refuse(
                file, "is without effect: set \(Self.name(of: \.isTLS)) to true")
        }
    }

    private func checkSASL(_ problems: inout ConfigurationProblems<Self>) {
        let mechanism = Self.name(of: \.mechanism)
        let credentials = [\Self.user, \.passwordFile]
        if self.mechanism == .none {
            for text in credentials where !self[keyPath: text].isEmpty {
                problems.refuse(text, "is without effect: set \(mechanism)")
            }
            return
        }
        for text in credentials where self[keyPath: text].isEmpty {
            problems.refuse(
                text, "is needed by \(mechanism), which is \(self.mechanism.rawValue)")
        }
        if self.mechanism == .plain, !self.isTLS, !KafkaBrokerList.isLoopback(self.brokers) {
            problems.refuse(
                \.mechanism,
                "would send the password as it is over the network: set "
                    + "\(Self.name(of: \.isTLS)) to true, or use scram-sha-512")
        }
    }
}
