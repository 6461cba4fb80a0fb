// What is wrong with the sinks that a configuration has: each sink's own rules stand beside its
// keys; here is what concerns several parts.
internal import ConfigurationKeys
internal import Operations
internal import SinkKit
internal import TrackingJournal

extension ServerConfiguration {
    /// Checks the keys of each sink, and what several sinks may not share.
    func checkSinks(_ values: inout ConfigurationValues) {
        for sink in self.sinks { self.check(sink, &values) }
        self.checkExclusive(&values)
        self.checkSubjects(&values)
        for kind in SinkKind.allCases where self.sinks.contains(where: { $0.kind == kind }) {
            guard let absence = kind.row.absence else { continue }
            values.refuse(self.listedSinks == nil ? "sink" : "sinks", absence)
        }
    }

    /// Checks the keys of a sink, with the values of its own item in place.
    private func check(_ sink: ListedSink, _ values: inout ConfigurationValues) {
        let problems = sink.kind.row.problems(
            sink.configuration(in: self),
            SinkInConfiguration(
                name: sink.name, journalRetention: .seconds(self.journal.retainSeconds)))
        values.check(sink.settings, setBy: "sinks") { values in
            for problem in problems { values.refuse(problem.key, problem.rule) }
        }
    }

    /// No two sinks may have one stream, or one cursor.
    private func checkExclusive(_ values: inout ConfigurationValues) {
        var taken: Set<[String]> = []
        for sink in self.sinks {
            guard let exclusive = sink.kind.row.exclusive(sink.configuration(in: self)) else {
                continue
            }
            if !taken.insert([sink.kind.rawValue] + exclusive.identity).inserted {
                values.refuse("sinks", exclusive.problem)
            }
        }
    }

    /// Campaign knows its recipients by their own ids.
    private func checkSubjects(_ values: inout ConfigurationValues) {
        guard self.privacy.subject == .hashed, self.sinks.contains(where: { $0.kind == .campaign })
        else { return }
        values.refuse(
            PrivacyConfiguration.name(of: \.subject),
            "a sink is of the type campaign, which needs the recipients' own ids: set plain, or "
                + "take that sink out")
    }
}
