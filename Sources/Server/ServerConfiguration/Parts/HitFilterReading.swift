// Reads the filter of a sink, such as `{kind: [open, click], not: {tenant: test}}`.
internal import SinkKit
internal import WireFormat
internal import Yams

/// A filter as it is read, and what is wrong with it.
struct HitFilterReading {
    /// Such as "filter of item 2".
    let place: String
    private(set) var problems: [String] = []

    private static let not = "not"
    private static let maxValues = 100
    private static let maxValueBytes = 256

    init(place: String) { self.place = place }

    /// The filter of a node; wrong parts of it are left out, and are problems.
    mutating func filter(_ node: Node) -> HitFilter? {
        guard let mapping = node.mapping, !mapping.isEmpty else {
            self.problems.append(
                "\(self.place) has to have fields, as in {kind: [open, click], not: {tenant: test}}"
            )
            return nil
        }
        let names = HitFilter.Field.allCases.map(\.rawValue)
        let only = self.values(in: mapping, self.place, names: names + [Self.not])
        guard let excluded = mapping[Self.not] else { return HitFilter(only: only) }
        guard let excluded = excluded.mapping, !excluded.isEmpty else {
            self.problems.append("\(self.place): not has to have fields, as in {tenant: test}")
            return nil
        }
        let not = self.values(in: excluded, "\(self.place): not", names: names)
        return HitFilter(only: only, not: not)
    }

    private mutating func values(
        in mapping: Node.Mapping, _ place: String, names: [String]
    ) -> [HitFilter.Field: [String]] {
        var values: [HitFilter.Field: [String]] = [:]
        for (key, value) in mapping {
            let name = key.scalar?.string ?? "?"
            if let field = HitFilter.Field(rawValue: name) {
                values[field] = self.values(of: field, value, place)
            } else if !names.contains(name) || name != Self.not {
                let suggestion = NearestName.suggestion(for: name, among: names)
                self.problems.append(
                    "\(place) has \"\(name)\", which is no field of a hit\(suggestion)")
            }
        }
        return values
    }

    /// One value, or a list of them.
    private mutating func values(
        of field: HitFilter.Field, _ node: Node, _ place: String
    ) -> [String] {
        let nodes = node.sequence.map(Array.init) ?? [node]
        let values = nodes.compactMap { $0.scalar?.string }
        if nodes.isEmpty || nodes.count > Self.maxValues || values.count < nodes.count {
            self.problems.append(
                "\(place): \(field.rawValue) has to be a value, or a list of 1 to "
                    + "\(Self.maxValues) values")
            return []
        }
        for value in values { self.check(value, of: field, place) }
        return values
    }

    private mutating func check(_ value: String, of field: HitFilter.Field, _ place: String) {
        if let known = field.values {
            guard !known.contains(value) else { return }
            self.problems.append(
                "\(place): \(field.rawValue) is \"\(value)\", and has to be one of: "
                    + known.joined(separator: ", ")
                    + NearestName.suggestion(for: value, among: known))
        } else if !(1...Self.maxValueBytes).contains(value.utf8.count) {
            self.problems.append(
                "\(place): \(field.rawValue) has a value of \(value.utf8.count) bytes, and has to "
                    + "have 1 to \(Self.maxValueBytes)")
        }
    }
}
