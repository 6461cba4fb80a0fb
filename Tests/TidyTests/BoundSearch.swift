internal import Foundation

/// Finds the bounds that the register has to have: the keys of amounts, and the types with a stored
/// collection or stream that grows.
enum BoundSearch {
    /// The folders whose modules are in the server.
    private static let folders: Set = ["Base", "Core", "Delivery", "Edge", "Server", "Sinks"]

    /// The keys of docs/configuration.md whose values are amounts. Times are none, nor are levels.
    static func keys(in page: String) -> Set<String> {
        let noAmounts: Set = ["seconds", "milliseconds", "days", "level"]
        var keys: Set<String> = []
        for row in page.split(separator: "\n") where row.hasPrefix("| `") {
            let cells = row.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count > 6, !noAmounts.contains(cells[4]) else { continue }
            let range = cells[5].components(separatedBy: " to ")
            guard range.count == 2, range.allSatisfy({ Int($0) != nil }) else { continue }
            keys.insert(cells[1].trimmingCharacters(in: ["`"]))
        }
        return keys
    }

    /// The types of a file that have such a property, as module and type: as our sources are
    /// formatted, a member stands four columns right of its type.
    static func tables(in file: SourceFile) -> Set<String> {
        guard Self.folders.contains(file.folder) else { return [] }
        var found: Set<String> = []
        // The types around a line, each with its margin.
        var types: [(margin: Int, name: String)] = []
        for line in file.lines {
            let margin = line.prefix { $0 == " " }.count
            let code = line.dropFirst(margin)
            guard let first = code.first, !code.hasPrefix("//") else { continue }
            if !")}#".contains(first) { types.removeAll { $0.margin >= margin } }
            let words = Self.words(of: code)
            guard words.count > 1 else { continue }
            if Self.typeWords.contains(words[0]) {
                let name = words[1].prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" }
                types.append((margin, String(name)))
            } else if types.last?.margin == margin - 4, Self.isTable(words) {
                found.insert(file.module + "/" + types.map(\.name).joined(separator: "."))
            }
        }
        return found
    }

    private static let typeWords: Set = ["class", "struct", "enum", "actor", "extension"]
    private static let modifiers: Set = [
        "fileprivate", "fileprivate(set)", "final", "indirect", "internal", "lazy", "nonisolated",
        "package", "package(set)", "private", "private(set)", "public", "static", "weak",
    ]

    /// A line's words without modifiers and attributes.
    private static func words(of code: Substring) -> [String] {
        let words = code.split(separator: " ").map(String.init)
        return Array(words.drop { $0.hasPrefix("@") || Self.modifiers.contains($0) })
    }

    /// Whether words declare a stored property that can hold any number of elements.
    private static func isTable(_ words: [String]) -> Bool {
        guard ["var", "let"].contains(words[0]) else { return false }
        let declaration = words.dropFirst().joined(separator: " ")
        let parts = declaration.components(separatedBy: " = ")
        // A brace without a value begins a getter.
        if parts.count == 1, declaration.contains("{") { return false }
        let head = parts[0].components(separatedBy: ": ")
        let type =
            head.count > 1
            ? head.dropFirst().joined(separator: ": ")
            : parts.dropFirst().joined(separator: " = ")
        if type.contains("AsyncStream<"), type.contains(".Continuation") { return true }
        let isLocked = type.hasPrefix("Mutex")
        let held =
            isLocked ? String(type.dropFirst("Mutex".count).drop { "<(".contains($0) }) : type
        let isCollection =
            held.hasPrefix("[")
            || ["Deque<", "Dictionary<", "LeastFirst<", "Set<", "Turns<"].contains {
                held.contains($0)
            }
        return isCollection && (words[0] == "var" || isLocked)
    }
}
