// What the server has to know of a type of sink, whatever it is.
internal import ConfigurationKeys
package import Logging
internal import SinkKit

/// A row of the table of sinks.
struct SinkRow: Sendable {
    /// What is found: a key's name, and what follows `KEY is "VALUE", but`.
    typealias Problem = (key: String, rule: String)
    /// Opens a backend with the values of its keys.
    typealias Opening<Keys> = @Sendable (_ keys: Keys, _ place: SinkPlace) throws -> OpenedSink

    let keys: [ServerConfiguration.Key]
    /// Why this program has no such sink; nil if it has.
    let absence: String?
    /// Whether it writes files in the data directory.
    let hasFiles: Bool
    let retention: @Sendable (ServerConfiguration) -> Duration
    let maxDiskBytes: @Sendable (ServerConfiguration) -> Int?
    let exclusive: @Sendable (ServerConfiguration) -> SinkExclusive?
    /// What contradicts itself in the configuration as a sink sees it.
    let problems: @Sendable (ServerConfiguration, SinkInConfiguration) -> [Problem]
    /// What is wrong in the files that it names.
    let fileProblems: @Sendable (ServerConfiguration) -> [Problem]
    /// Opens a backend of it; nil if this program has none.
    let open: (@Sendable (ServerConfiguration, SinkPlace) throws -> OpenedSink)?

    /// A sink with keys.
    ///
    /// - Parameters:
    ///   - keys: its keys, if the server's configuration reads one of them; nil: as they are.
    ///   - open: opens its backend; nil in a build without its library.
    init<Keys: SinkConfiguration>(
        _ type: Keys.Type, keys: [ServerConfiguration.Key]? = nil, hasFiles: Bool = false,
        open: Opening<Keys>?
    ) {
        self.keys = keys ?? ServerConfiguration.keys(ofSink: type)
        self.absence = type.absence
        self.hasFiles = hasFiles
        self.retention = { $0[type].retention }
        self.maxDiskBytes = { $0[type].maxDiskBytes }
        self.exclusive = { $0[type].exclusive }
        self.problems = { whole, sink in
            var problems = ConfigurationProblems<Keys>()
            whole[type].check(&problems, of: sink)
            return problems.found
        }
        self.fileProblems = { whole in
            var problems = ConfigurationProblems<Keys>()
            whole[type].checkFiles(&problems)
            return problems.found
        }
        if let open {
            self.open = { whole, place in try open(whole[Keys.self], place) }
        } else {
            self.open = nil
        }
    }

    /// A sink without keys.
    init(open: @escaping @Sendable (SinkPlace) throws -> OpenedSink) {
        self.init(NoKeys.self) { _, place in try open(place) }
    }

    private struct NoKeys: SinkConfiguration {
        static let keys: [Key] = []
    }
}

/// Where a sink is opened.
package struct SinkPlace: Sendable {
    /// The sink's name in the configuration.
    package let name: String
    /// What the path of its files or directory begins with.
    package let path: String
    /// Warns if a backend cannot be opened yet.
    package let logger: Logger?

    /// A place of a server's own.
    package init(name: String, path: String, logger: Logger?) {
        self.name = name
        self.path = path
        self.logger = logger
    }
}

extension ServerConfiguration {
    /// The keys of a type of sink, as keys of the whole.
    static func keys<Keys: SinkConfiguration>(ofSink type: Keys.Type) -> [Key] {
        Keys.keys.map { key in
            Key(
                key.name, key.standard, key.meaning, unit: key.unit, isSecret: key.isSecret,
                isReloadable: key.isReloadable, set: { key.set($0, &$1[type]) },
                problems: key.problems)
        }
    }
}

extension ListedSink {
    /// Opens its backend.
    ///
    /// - Throws: `ConfigurationError` if this program has no such sink, or the error of a backend
    ///   that cannot be opened.
    package func open(
        in whole: ServerConfiguration, directory: String, logger: Logger?
    ) throws -> OpenedSink {
        let row = self.kind.row
        guard let open = row.open else {
            throw ConfigurationError([
                "the sink \(self.name) is of the type \(self.kind), but "
                    + (row.absence ?? "this program was built without it")
            ])
        }
        return try open(
            self.configuration(in: whole),
            SinkPlace(name: self.name, path: "\(directory)/\(self.fileName)", logger: logger))
    }

    /// Whether it writes files in the data directory.
    package var hasFiles: Bool { self.kind.row.hasFiles }
}
