// A YAML file, taken apart here and not by swift-configuration, which passes over keys that it does
// not know, lists, and values that are missing.
internal import Foundation
internal import Yams

/// The values of a file by key, and what is wrong with it, with its place.
struct ConfigurationFile {
    /// As text, whatever their type in YAML.
    private(set) var values: [String: String] = [:]
    private(set) var problems: [String] = []
    private let path: String

    /// Reads the file; one that holds nothing sets nothing.
    init(path: String) {
        self.path = path
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            self.problems = ["\(path) cannot be read: check that it is there, and UTF-8"]
            return
        }
        do {
            guard let root = try Yams.compose(yaml: text), root.null == nil else { return }
            guard let mapping = root.mapping else {
                self.problems = ["\(path): keys and values are needed, as in \"sink: sqlite\""]
                return
            }
            self.read(mapping, prefix: "")
        } catch {
            self.problems = ["\(path) is not YAML: \(error)"]
        }
    }

    private mutating func read(_ mapping: Node.Mapping, prefix: String) {
        let known = ConfigurationKey.all.map(\.name)
        for (key, value) in mapping {
            let part = key.scalar?.string ?? "?"
            let name = prefix + part
            let place = self.path + (key.mark.map { ":\($0.line):\($0.column)" } ?? "")
            let isSection = known.contains { $0.hasPrefix(name + ".") }
            if isSection, let section = value.mapping {
                self.read(section, prefix: name + ".")
            } else if isSection {
                self.problems.append("\(place): \(name) holds keys, a line each, and no value")
            } else if part.contains("."), known.contains(name) {
                self.problems.append("\(place): \(name) has to be written in lines, without dots")
            } else if !known.contains(name) {
                let suggestion = ConfigurationSource.suggestion(name, known)
                self.problems.append("\(place): \(name) is no key\(suggestion)")
            } else if let scalar = value.scalar, value.null == nil {
                self.values[name] = scalar.string
            } else {
                self.problems.append("\(place): \(name) has to have one value")
            }
        }
    }
}
