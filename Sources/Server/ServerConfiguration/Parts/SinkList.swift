// The key `sinks`: several sinks at once, as a list of YAML.
internal import TrackingJournal
internal import Yams

/// Reads the value of `sinks`, such as `[{type: sqlite}, {type: nats, required: false}]`.
struct SinkList {
    private(set) var sinks: [ListedSink] = []
    /// What is wrong, each after the words "sinks is …, but".
    private(set) var problems: [String] = []

    /// Each sink has a forwarder, series of metrics and files of its own.
    private static let maxSinks = 16

    /// - Parameter journalBytes: what the journal stores at most.
    init(_ text: String, journalBytes: Int) {
        guard let items = try? Yams.compose(yaml: text)?.sequence, !items.isEmpty else {
            self.problems = [
                "it has to be a list, as in [{type: sqlite}, {type: jsonl, required: false}]"
            ]
            return
        }
        guard items.count <= Self.maxSinks else {
            self.problems = ["it has \(items.count) items, and may have \(Self.maxSinks) at most"]
            return
        }
        for (index, item) in items.enumerated() {
            self.read(item, "item \(index + 1)", maxLag: journalBytes / 2)
        }
        if self.problems.isEmpty, !self.sinks.contains(where: \.journalSink.isRequired) {
            self.problems.append("at least one sink has to be required, which is the default")
        }
    }

    private mutating func read(_ item: Node, _ place: String, maxLag: Int) {
        guard let mapping = item.mapping else {
            self.problems.append("\(place) has to have keys, as in {type: sqlite}")
            return
        }
        var item = SinkItem(mapping, place: place, maxLag: maxLag)
        let sink = item.sink()
        self.problems += item.problems
        guard let sink else { return }
        if self.sinks.contains(where: { $0.name == sink.name }) {
            self.problems.append(
                "\(place) is the second sink with the name \(sink.name): give each its own name")
        }
        if sink.kind == .stdout, self.sinks.contains(where: { $0.kind == .stdout }) {
            self.problems.append("\(place) is the second sink of the type stdout")
        }
        self.sinks.append(sink)
    }
}
