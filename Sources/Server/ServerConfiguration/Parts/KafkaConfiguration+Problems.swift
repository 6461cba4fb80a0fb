// What contradicts itself in the keys of the kafka sink.
package import KafkaSink

extension KafkaConfiguration {
    /// Why a program that was built without the trait cannot have this sink.
    package static let absence = "this program was built without it: swift build --traits Kafka"

    /// Refuses what contradicts itself; for a server that uses the sink.
    static func check(_ values: inout ConfigurationValues) {
        if !KafkaBrokerList.isValid(values.text("kafka.brokers")) {
            values.refuse("kafka.brokers", KafkaBrokerList.rule)
        }
        if KafkaTopicTemplate(values.text("kafka.topic")) == nil {
            values.refuse("kafka.topic", KafkaTopicTemplate.rule)
        }
        let request = values.number("kafka.request_seconds")
        if values.number("kafka.delivery_seconds") <= request {
            values.refuse(
                "kafka.delivery_seconds",
                "has to be at least \(request + 1): a broker that hangs is found out after "
                    + "kafka.request_seconds")
        }
        let message = values.number("kafka.max_message_bytes")
        if values.number("kafka.max_queued_bytes") < message {
            values.refuse(
                "kafka.max_queued_bytes",
                "has to be at least kafka.max_message_bytes, which is \(message)")
        }
        Self.checkTLS(&values)
        Self.checkSASL(&values)
    }

    private static func checkTLS(_ values: inout ConfigurationValues) {
        values.refuseAlone([
            ("kafka.tls.certificate", "kafka.tls.key"), ("kafka.tls.key", "kafka.tls.certificate"),
            ("kafka.tls.key_password_file", "kafka.tls.key"),
        ])
        if values.text("kafka.tls.enabled") == "true" { return }
        for name in [
            "kafka.tls.roots", "kafka.tls.certificate", "kafka.tls.key",
            "kafka.tls.key_password_file",
        ] where !values.text(name).isEmpty {
            values.refuse(name, "is without effect: set kafka.tls.enabled to true")
        }
    }

    private static func checkSASL(_ values: inout ConfigurationValues) {
        let mechanism = values.text("kafka.sasl.mechanism")
        let names = ["kafka.sasl.user", "kafka.sasl.password_file"]
        if mechanism == Mechanism.none.rawValue {
            for name in names where !values.text(name).isEmpty {
                values.refuse(name, "is without effect: set kafka.sasl.mechanism")
            }
            return
        }
        for name in names where values.text(name).isEmpty {
            values.refuse(name, "is needed by kafka.sasl.mechanism, which is \(mechanism)")
        }
        if mechanism == Mechanism.plain.rawValue, values.text("kafka.tls.enabled") != "true",
            !KafkaBrokerList.isLoopback(values.text("kafka.brokers"))
        {
            values.refuse(
                "kafka.sasl.mechanism",
                "would send the password as it is over the network: set kafka.tls.enabled to "
                    + "true, or use scram-sha-512")
        }
    }
}
