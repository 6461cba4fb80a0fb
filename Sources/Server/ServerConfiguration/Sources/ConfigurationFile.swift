// A YAML file, taken apart by hand: a decoder would pass over keys that it does not know, and would
// not tell where a value stands.
internal import ConfigurationKeys
internal import Foundation
internal import WireFormat
internal import Yams

/// The values of a file by key, and what is wrong with it, with its place.
struct ConfigurationFile {
    /// As text, whatever their type in YAML.
    private(set) var texts: [String: String] = [:]
    /// Where each of them stands.
    private(set) var places: [String: ConfigurationOrigin] = [:]
    private(set) var problems: [String] = []
    private let path: String

    private static let maxBytes = 256 << 10

    /// Reads the file; one that holds nothing sets nothing.
    init(path: String) {
        self.path = path
        do {
            let text = try self.text()
            guard let root = try Yams.compose(yaml: text), root.null == nil else { return }
            guard let mapping = root.mapping else {
                let place = self.place(root.mark)
                throw Unusable("\(place): keys and values are needed, as in \"sink: sqlite\"")
            }
            self.read(mapping, prefix: "")
        } catch let error as Unusable {
            self.problems = error.problems
        } catch let error as YamlError {
            self.problems = error.problems(ofFile: path)
        } catch {
            self.problems = ["\(path) is not YAML: \(error)"]
        }
    }

    /// Why nothing of the file can be read.
    private struct Unusable: Error {
        let problems: [String]

        init(_ problem: String) { self.problems = [problem] }
    }

    private func text() throws -> String {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: self.path))
        } catch {
            throw Unusable("\(self.path) cannot be read: check that it is there, and readable")
        }
        guard data.count <= Self.maxBytes else {
            throw Unusable(
                "\(self.path) has \(data.count) bytes, but a configuration has at most "
                    + "\(Self.maxBytes)")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw Unusable("\(self.path) is not UTF-8: save it as such")
        }
        return text
    }

    /// What stands before a dot of some key: `limits`.
    static let sections: [String] = {
        let sections = ServerConfiguration.keys.map(\.name).flatMap { name in
            name.indices.filter { name[$0] == "." }.map { String(name[..<$0]) }
        }
        return Set(sections).sorted()
    }()

    private mutating func read(_ mapping: Node.Mapping, prefix: String) {
        let keys = ServerConfiguration.keys
        let known = keys.map(\.name)
        let sections = Self.sections
        let takesList = { name in keys.contains { $0.name == name && $0.unit == "list" } }
        for (key, value) in mapping {
            let part = key.scalar?.string ?? "?"
            let name = prefix + part
            let place = self.place(key.mark)
            let isSection = sections.contains(name)
            if isSection, let section = value.mapping {
                self.read(section, prefix: name + ".")
            } else if isSection {
                self.problems.append("\(place): \(name) holds keys, a line each, and no value")
            } else if part.contains("."), known.contains(name) {
                self.problems.append("\(place): \(name) has to be written in lines, without dots")
            } else if !known.contains(name) {
                let suggestion = NearestName.suggestion(for: name, among: known + sections)
                self.problems.append("\(place): \(name) is no key\(suggestion)")
            } else if takesList(name), let list = value.sequence {
                self.texts[name] = Self.inOneLine(list)
                self.places[name] = place
                if self.texts[name] == nil {
                    self.problems.append(
                        "\(place): \(name) is longer than \(Self.maxListBytes) bytes")
                }
            } else if let scalar = value.scalar, value.null == nil {
                self.texts[name] = scalar.string
                self.places[name] = place
            } else {
                let value = takesList(name) ? "a list" : "one value"
                self.problems.append("\(place): \(name) has to have \(value)")
            }
        }
    }

    /// A list as the environment and `--set` would have it.
    ///
    /// - Returns: nil if it is longer than any list that is meant: aliases can make it so.
    static func inOneLine(_ list: Node.Sequence) -> String? {
        var line = ""
        return Self.write(.sequence(list), to: &line) ? line : nil
    }

    private static let maxListBytes = 64 << 10

    /// Whether there was room for it.
    private static func write(_ node: Node, to line: inout String) -> Bool {
        guard line.utf8.count <= Self.maxListBytes else { return false }
        if let sequence = node.sequence {
            line += "["
            for (index, item) in sequence.enumerated() {
                line += index > 0 ? ", " : ""
                guard Self.write(item, to: &line) else { return false }
            }
            line += "]"
        } else if let mapping = node.mapping {
            line += "{"
            for (index, pair) in mapping.enumerated() {
                line += index > 0 ? ", " : ""
                guard Self.write(pair.key, to: &line) else { return false }
                line += ": "
                guard Self.write(pair.value, to: &line) else { return false }
            }
            line += "}"
        } else {
            line += Self.inOneLine(scalar: node)
        }
        return true
    }

    /// In quotes where its characters could mean something else.
    private static func inOneLine(scalar node: Node) -> String {
        let text = node.scalar?.string ?? ""
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        if isPlain, !text.isEmpty { return text }
        return "'"
            + text.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "''") + "'"
    }

    private func place(_ mark: Mark?) -> ConfigurationOrigin {
        .file(path: self.path, line: mark?.line ?? 1, column: mark?.column ?? 1)
    }
}
