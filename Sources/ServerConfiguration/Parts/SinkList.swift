// The key `sinks`: several sinks at once, as a list of YAML.
package import TrackingJournal
package import TrackingSinks
internal import Yams

/// One sink of the list.
package struct ListedSink: Sendable, Equatable {
    /// Which one; its name in cursors, metrics and logs as well.
    package let kind: SinkKind
    /// What the journal keeps for it, in bytes; nil if it is required.
    package let maxLagBytes: Int?
    /// Where it begins if it is new.
    package let start: JournalSink.Start
    /// Whether its delivery waits for an operator.
    package let isPaused: Bool

    /// A sink; a required one by default.
    package init(
        _ kind: SinkKind, maxLagBytes: Int? = nil, start: JournalSink.Start = .oldest,
        isPaused: Bool = false
    ) {
        self.kind = kind
        self.maxLagBytes = maxLagBytes
        self.start = start
        self.isPaused = isPaused
    }

    /// The sink as the journal knows it.
    package var journalSink: JournalSink {
        JournalSink(self.kind.rawValue, maxLagBytes: self.maxLagBytes, start: self.start)
    }
}

/// Reads the value of `sinks`, such as `[{type: sqlite}, {type: nats, required: false}]`.
struct SinkList {
    private(set) var sinks: [ListedSink] = []
    /// What is wrong, each after the words "sinks is …, but".
    private(set) var problems: [String] = []

    private static let keys = ["type", "required", "max_lag_bytes", "from", "paused"]
    /// What is kept for a sink that is not required, if nothing else is said.
    private static let standardLagBytes = 1 << 30

    /// - Parameter journalBytes: what the journal stores at most.
    init(_ text: String, journalBytes: Int) {
        guard let items = try? Yams.compose(yaml: text)?.sequence, !items.isEmpty else {
            self.problems = [
                "it has to be a list, as in [{type: sqlite}, {type: jsonl, required: false}]"
            ]
            return
        }
        for (index, item) in items.enumerated() {
            self.read(item, "item \(index + 1)", maxLag: journalBytes / 2)
        }
        if self.problems.isEmpty, !self.sinks.contains(where: { $0.maxLagBytes == nil }) {
            self.problems.append("at least one sink has to be required, which is the default")
        }
    }

    private mutating func read(_ item: Node, _ place: String, maxLag: Int) {
        guard let mapping = item.mapping else {
            self.problems.append("\(place) has to have keys, as in {type: sqlite}")
            return
        }
        for key in mapping.keys.map({ $0.scalar?.string ?? "?" }) where !Self.keys.contains(key) {
            let suggestion = NearestName.suggestion(for: key, among: Self.keys)
            self.problems.append("\(place) has \"\(key)\", which is no key of a sink\(suggestion)")
        }
        guard let kind = self.choice(SinkKind.self, mapping, "type", place, standard: nil),
            let start = self.choice(
                JournalSink.Start.self, mapping, "from", place, standard: .oldest)
        else { return }
        if self.sinks.contains(where: { $0.kind == kind }) {
            self.problems.append("\(place) is the second sink of the type \(kind.rawValue)")
        }
        self.sinks.append(
            ListedSink(
                kind, maxLagBytes: self.maxLagBytes(mapping, place, maxLag: maxLag), start: start,
                isPaused: self.flag(mapping, "paused", place, standard: false) ?? false))
    }

    private mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ type: Choice.Type, _ mapping: Node.Mapping, _ key: String, _ place: String,
        standard: Choice?
    ) -> Choice? {
        guard let node = mapping[key] else {
            if standard == nil { self.problems.append("\(place) has no \(key)") }
            return standard
        }
        let text = node.scalar?.string ?? "?"
        if let choice = Choice(rawValue: text) { return choice }
        let names = Choice.allCases.map(\.rawValue)
        self.problems.append(
            "\(key) of \(place) is \"\(text)\", and has to be one of: "
                + names.joined(separator: ", ") + NearestName.suggestion(for: text, among: names))
        return nil
    }

    /// Nil if it is neither true nor false, which is a problem.
    private mutating func flag(
        _ mapping: Node.Mapping, _ key: String, _ place: String, standard: Bool
    ) -> Bool? {
        guard let node = mapping[key] else { return standard }
        let text = node.scalar?.string ?? "?"
        if let flag = Bool(text) { return flag }
        self.problems.append("\(key) of \(place) is \"\(text)\", and has to be true or false")
        return nil
    }

    /// Nil if the sink is required.
    private mutating func maxLagBytes(
        _ mapping: Node.Mapping, _ place: String, maxLag: Int
    ) -> Int? {
        guard let isRequired = self.flag(mapping, "required", place, standard: true) else {
            return nil
        }
        guard let node = mapping["max_lag_bytes"] else {
            return isRequired ? nil : min(Self.standardLagBytes, maxLag)
        }
        let text = node.scalar?.string ?? "?"
        guard let bytes = Int(text), (1...max(1, maxLag)).contains(bytes) else {
            self.problems.append(
                "max_lag_bytes of \(place) is \"\(text)\", and has to be from 1 to \(maxLag), half "
                    + "of what the journal keeps")
            return nil
        }
        if isRequired {
            self.problems.append(
                "\(place) has max_lag_bytes, but is required: everything is kept for it; set "
                    + "required: false, or remove max_lag_bytes")
        }
        return bytes
    }
}
