// Reads one item of the key `sinks`.
internal import ConfigurationKeys
internal import SinkKit
internal import TrackingJournal
internal import WireFormat
internal import Yams

/// An item such as `{type: jsonl, required: false}`, and what is wrong with it.
struct SinkItem {
    private let mapping: Node.Mapping
    /// Such as "item 2".
    let place: String
    /// What the journal may keep for a sink that is not required, at most.
    private let maxLag: Int
    private(set) var problems: [String] = []

    private static let keys = [
        "name", "type", "required", "max_lag_bytes", "from", "paused", "filter",
    ]
    /// What is kept for a sink that is not required, if nothing else is said.
    private static let standardLagBytes = 1 << 30
    private static let maxNameBytes = 32

    init(_ mapping: Node.Mapping, place: String, maxLag: Int) {
        self.mapping = mapping
        self.place = place
        self.maxLag = maxLag
    }

    /// The sink; nil if its type is missing or unknown.
    mutating func sink() -> ListedSink? {
        guard let kind = self.choice(SinkKind.self, "type", standard: nil),
            let start = self.choice(JournalSink.Start.self, "from", standard: .oldest)
        else { return nil }
        return ListedSink(
            kind, name: self.name(), maxLagBytes: self.maxLagBytes(), start: start,
            filter: self.filter(), isPaused: self.flag("paused", standard: false) ?? false,
            settings: self.settings(of: kind))
    }

    /// Nil where none is given.
    private mutating func name() -> String? {
        guard let node = self.mapping["name"] else { return nil }
        let name = node.scalar?.string ?? "?"
        if Self.isName(name) { return name }
        self.refuse("name", name, Self.nameRule)
        return nil
    }

    /// What a sink's name has to be, after the words "has to be".
    static let nameRule = "1 to \(Self.maxNameBytes) of the letters a to z, digits, - and _"

    /// Whether a text can be a sink's name.
    static func isName(_ name: String) -> Bool {
        (1...Self.maxNameBytes).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            }
    }

    /// Nil if the sink is required.
    private mutating func maxLagBytes() -> Int? {
        guard let isRequired = self.flag("required", standard: true) else { return nil }
        guard let node = self.mapping["max_lag_bytes"] else {
            return isRequired ? nil : min(Self.standardLagBytes, self.maxLag)
        }
        let text = node.scalar?.string ?? "?"
        guard let bytes = Amount.value(of: text, in: "bytes"),
            (1...max(1, self.maxLag)).contains(bytes)
        else {
            self.refuse(
                "max_lag_bytes", text, "from 1 to \(self.maxLag), half of what the journal keeps")
            return nil
        }
        if isRequired {
            self.problems.append(
                "\(self.place) has max_lag_bytes, but is required: everything is kept for it; set "
                    + "required: false, or remove max_lag_bytes")
        }
        return bytes
    }

    private mutating func filter() -> HitFilter? {
        guard let node = self.mapping["filter"] else { return nil }
        var reading = HitFilterReading(place: "filter of \(self.place)")
        let filter = reading.filter(node)
        self.problems += reading.problems
        return filter
    }

    /// The other keys, which are those of its type.
    private mutating func settings(of kind: SinkKind) -> [String: String] {
        let prefix = kind.rawValue + "."
        let own = ServerConfiguration.keys.filter { $0.name.hasPrefix(prefix) }
        var settings: [String: String] = [:]
        for (node, value) in self.mapping {
            let name = node.scalar?.string ?? "?"
            if Self.keys.contains(name) { continue }
            guard let key = own.first(where: { $0.name == prefix + name }) else {
                let known = Self.keys + own.map { String($0.name.dropFirst(prefix.count)) }
                self.problems.append(
                    "\(self.place) has \"\(name)\", which is no key of a sink of the type "
                        + "\(kind.rawValue)\(NearestName.suggestion(for: name, among: known))")
                continue
            }
            let list = key.unit == "list" ? value.sequence : nil
            let line = list.flatMap { ConfigurationFile.inOneLine($0) }
            let text = line ?? value.scalar?.string ?? "?"
            if key.takes(text) {
                settings[key.name] = text
            } else {
                self.refuse(name, key.shown(text), key.rule)
            }
        }
        return settings
    }

    private mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ type: Choice.Type, _ key: String, standard: Choice?
    ) -> Choice? {
        guard let node = self.mapping[key] else {
            if standard == nil { self.problems.append("\(self.place) has no \(key)") }
            return standard
        }
        let text = node.scalar?.string ?? "?"
        if let choice = Choice(rawValue: text) { return choice }
        let names = Choice.allCases.map(\.rawValue)
        self.refuse(
            key, text,
            "one of: " + names.joined(separator: ", ")
                + NearestName.suggestion(for: text, among: names))
        return nil
    }

    /// Nil if it is neither true nor false, which is a problem.
    private mutating func flag(_ key: String, standard: Bool) -> Bool? {
        guard let node = self.mapping[key] else { return standard }
        let text = node.scalar?.string ?? "?"
        if let flag = Bool(text) { return flag }
        self.refuse(key, text, "true or false")
        return nil
    }

    private mutating func refuse(_ key: String, _ text: String, _ rule: String) {
        self.problems.append("\(key) of \(self.place) is \"\(text)\", and has to be \(rule)")
    }
}
