internal import WireFormat
internal import Yams

/// Reads the value of a key that is a list of mappings in YAML, such as `[{tenant: acme}]`: its
/// form, and the names in each item. What they mean is for the key to say.
struct MappingList {
    /// An item of the list.
    struct Item {
        /// Its place for people, such as "item 1".
        let place: String
        /// Its keys and values; nil if it has none.
        let mapping: Node.Mapping?
        /// What is wrong with its form.
        fileprivate(set) var problems: [String] = []
    }

    private(set) var items: [Item] = []
    /// What is wrong with the list as a whole, after the words "KEY is …, but".
    private(set) var problems: [String] = []

    private static let maxItems = 1000

    /// Reads a list; an empty text is an empty list.
    ///
    /// - Parameters:
    ///   - names: those that an item may have.
    ///   - example: a list in one line.
    init(_ text: String, names: [String], example: String) {
        if text.isEmpty { return }
        // A text that is no YAML is no list either.
        guard let nodes = try? Yams.compose(yaml: text)?.sequence else {
            self.problems = ["it has to be a list, as in \(example)"]
            return
        }
        guard nodes.count <= Self.maxItems else {
            self.problems = ["it has \(nodes.count) items, and may have \(Self.maxItems) at most"]
            return
        }
        self.items = nodes.enumerated().map { index, node in
            var item = Item(place: "item \(index + 1)", mapping: node.mapping)
            guard let mapping = node.mapping else {
                item.problems = ["\(item.place) has to have keys, as in \(example)"]
                return item
            }
            for (key, _) in mapping {
                let name = key.scalar?.string ?? "?"
                if names.contains(name) { continue }
                item.problems.append(
                    "\(item.place) has \"\(name)\", which is none of its keys"
                        + NearestName.suggestion(for: name, among: names))
            }
            return item
        }
    }
}
