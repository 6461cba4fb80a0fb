// What is wrong with the keys of the sinks that a configuration has.
internal import GRPCSink
internal import KafkaSink
internal import NATSSink
internal import Operations
internal import PostgreSQLSink
internal import WebhookSink

extension ServerConfiguration {
    /// Checks the keys of each sink, and what several sinks may not share.
    func checkSinks(_ values: inout ConfigurationValues) {
        self.check(.nats, &values) { NATSConfiguration.check(&$0) }
        self.check(.kafka, &values) { KafkaConfiguration.check(&$0) }
        self.checkCampaigns(&values)
        self.check(.webhook, &values) { WebhookConfiguration.check(&$0) }
        self.check(.postgresql, &values) { PostgreSQLConfiguration.check(&$0) }
        self.check(.grpc, &values) { GRPCConfiguration.check(&$0) }
        self.checkStreams(&values)
        self.checkDatabases(&values)
        self.checkSubjects(&values)
        #if !NATS
        self.refuse(.nats, NATSConfiguration.absence, &values)
        #endif
        #if !Kafka
        self.refuse(.kafka, KafkaConfiguration.absence, &values)
        #endif
        #if !PostgreSQL
        self.refuse(.postgresql, PostgreSQLConfiguration.absence, &values)
        #endif
    }

    /// Checks the sinks of a kind, each with the values of its own item in place.
    private func check(
        _ kind: SinkKind, _ values: inout ConfigurationValues,
        _ body: (inout ConfigurationValues) -> Void
    ) {
        for sink in self.sinks where sink.kind == kind {
            values.check(sink.settings, setBy: "sinks", body)
        }
    }

    /// Refuses a kind of sink that this program was built without.
    private func refuse(_ kind: SinkKind, _ absence: String, _ values: inout ConfigurationValues) {
        guard self.sinks.contains(where: { $0.kind == kind }) else { return }
        values.refuse(self.listedSinks == nil ? "sink" : "sinks", absence)
    }

    /// No two sinks may have one stream.
    private func checkStreams(_ values: inout ConfigurationValues) {
        var streams: Set<String> = []
        for sink in self.sinks where sink.kind == .nats {
            let own = sink.configuration(in: self).nats
            if !streams.insert(own.stream).inserted {
                values.refuse(
                    "sinks",
                    "two sinks have the stream \(own.stream), which would take the hits "
                        + "of one for duplicates of the other's: give one of them its own stream "
                        + "and subject_prefix")
            }
        }
    }

    /// Campaign knows its recipients by their own ids.
    private func checkSubjects(_ values: inout ConfigurationValues) {
        guard self.privacy.subject == .hashed, self.sinks.contains(where: { $0.kind == .campaign })
        else { return }
        values.refuse(
            "privacy.subject",
            "a sink is of the type campaign, which needs the recipients' own ids: set plain, or "
                + "take that sink out")
    }

    /// No two sinks may have one cursor.
    private func checkDatabases(_ values: inout ConfigurationValues) {
        var places: Set<[String]> = []
        for sink in self.sinks where sink.kind == .postgresql {
            let own = sink.configuration(in: self).postgresql
            if !places.insert([own.url, own.schema]).inserted {
                values.refuse(
                    "sinks",
                    "two sinks have the schema \(own.schema) of one database, and so one cursor: "
                        + "give one of them its own schema")
            }
        }
    }
}
