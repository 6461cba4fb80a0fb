// What the YAML parser says of a text, as problems with their places.
internal import Yams

extension YamlError {
    /// A problem per place.
    func problems(ofFile path: String) -> [String] {
        switch self {
        case .scanner(_, let problem, let mark, let yaml),
            .parser(_, let problem, let mark, let yaml),
            .composer(_, let problem, let mark, let yaml):
            let place = "\(path):\(mark.line):\(mark.column)"
            guard !Self.beginsWithTab(yaml, line: mark.line) else {
                return ["\(place): a tab begins this line, but YAML takes spaces alone there"]
            }
            return ["\(place): this is not YAML: \(problem)"]
        case .reader(let problem, let offset, let value, let yaml):
            let before = yaml.unicodeScalars.prefix { Int32(bitPattern: $0.value) != value }
            let line = 1 + before.count { $0 == "\n" }
            let column = 1 + before.reversed().prefix { $0 != "\n" }.count
            let place = offset == nil ? path : "\(path):\(line):\(column)"
            return ["\(place): this is not YAML: \(problem)"]
        case .duplicatedKeysInMapping(let duplicates, let context):
            return duplicates.map { key in
                Self.duplicate(key, context.text, first: context.mark, path)
            }
        case .no, .memory, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
            return ["\(path) is not YAML: \(self)"]
        }
    }

    private static func lines(_ yaml: String) -> [Substring] {
        yaml.split(omittingEmptySubsequences: false) { $0.isNewline }
    }

    private static func beginsWithTab(_ yaml: String, line: Int) -> Bool {
        let lines = Self.lines(yaml)
        guard lines.indices.contains(line - 1) else { return false }
        return lines[line - 1].prefix { $0.isWhitespace }.contains("\t")
    }

    /// The parser tells where one of the keys stands first, and not where it stands again: that is
    /// the next line of the same indentation that begins with it.
    private static func duplicate(
        _ key: String, _ yaml: String, first mark: Mark, _ path: String
    ) -> String {
        let indentation = String(repeating: " ", count: max(mark.column - 1, 0))
        let spellings = [key, "\"\(key)\"", "'\(key)'"].map { indentation + $0 }
        let places = Self.lines(yaml).enumerated().compactMap { index, line in
            let isKey = spellings.contains { spelling in
                line.hasPrefix(spelling)
                    && line.dropFirst(spelling.count).drop { $0 == " " }.hasPrefix(":")
            }
            return isKey && index + 1 >= mark.line ? index + 1 : nil
        }
        guard places.count > 1 else {
            return "\(path):\(mark.line):\(mark.column): \(key) is given twice: which one holds?"
        }
        return "\(path):\(places[1]):\(mark.column): \(key) is given twice, first in line "
            + "\(places[0]): which one holds?"
    }
}
