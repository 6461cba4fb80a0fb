// A reload happens whole or not at all, and says what it did.
internal import ConfigurationKeys
internal import Foundation
internal import Logging
@testable internal import ServerConfiguration
internal import Synchronization
internal import TestSupport
internal import Testing

struct ReloaderTests {
    /// A reloader on a file that the test rewrites, with a log that it reads.
    private struct Bench {
        let file: String
        let reloader: Reloader
        let records: Records

        init(_ directory: String, _ yaml: String) throws {
            self.file = directory + "/sightline.yaml"
            try Self.write(yaml, self.file)
            let records = Records()
            self.records = records
            let source = ConfigurationSource(file: self.file)
            self.reloader = Reloader(
                source: source, start: source.load(),
                logger: Logger(label: "test") { _ in RecordingLogHandler(records: records) })
        }

        func rewrite(_ yaml: String) throws { try Self.write(yaml, self.file) }

        private static func write(_ yaml: String, _ path: String) throws {
            try Data(yaml.utf8).write(to: URL(filePath: path))
        }
    }

    @Test("a changed level is in force in loggers that were made before")
    func logLevel() async throws {
        try await TestDirectory.with { directory in
            let bench = try Bench(directory, "log:\n  level: info\n")
            let level = LogLevel(.info)
            bench.reloader.add(
                Reloadable("log level") { next in { level.change(to: next.logLevel) } })
            let logger = Logger(label: "test") { _ in
                LeveledLogHandler(SwiftLogNoOpLogHandler(), level: level)
            }
            #expect(logger.logLevel == .info)
            try bench.rewrite("log:\n  level: debug\n")
            await bench.reloader.reload()
            #expect(logger.logLevel == .debug)
            #expect(bench.records.all == ["info reloaded changed=log.level"])
        }
    }

    @Test("a key that cannot be reloaded is named, at each reload, until it is set back")
    func restart() async throws {
        try await TestDirectory.with { directory in
            let bench = try Bench(directory, "sink: jsonl\n")
            try bench.rewrite("sink: discard\nlisten: 127.0.0.1:1\n")
            await bench.reloader.reload()
            await bench.reloader.reload()
            try bench.rewrite("sink: jsonl\n")
            await bench.reloader.reload()
            let warning = "warning changed, but in force only after a restart keys=listen"
            let done = "info reloaded changed="
            #expect(
                bench.records.all == [done + "sink", warning, done, warning, done + "sink"])
        }
    }

    @Test(
        "a file that is wrong changes nothing, and all that is wrong is logged",
        arguments: [
            ("log:\n  level: loud\nsnk: jsonl\n", 2), ("log: [", 1), ("data_dir: /dev/null/x\n", 1),
        ])
    func broken(_ yaml: String, _ count: Int) async throws {
        try await TestDirectory.with { directory in
            let bench = try Bench(directory, "sink: jsonl\n")
            bench.reloader.add(
                Reloadable("nothing") { _ in
                    Issue.record("nothing may be prepared")
                    return {}
                })
            try bench.rewrite(yaml)
            await bench.reloader.reload()
            let records = bench.records.all
            #expect(records.count == count)
            #expect(records.allSatisfy { $0.hasPrefix("error not reloaded") })
        }
    }

    @Test("one part that cannot take it keeps every part from changing")
    func wholeOrNothing() async throws {
        try await TestDirectory.with { directory in
            let bench = try Bench(directory, "sink: jsonl\n")
            let changes = Mutex(0)
            let isBroken = Mutex(true)
            bench.reloader.add(Reloadable("first") { _ in { changes.withLock { $0 += 1 } } })
            bench.reloader.add(
                Reloadable("second") { _ in
                    if isBroken.withLock({ $0 }) { throw ConfigurationError(["no such key"]) }
                    return { changes.withLock { $0 += 1 } }
                })
            await bench.reloader.reload()
            #expect(changes.withLock { $0 } == 0)
            #expect(bench.records.all.count == 1)
            isBroken.withLock { $0 = false }
            await bench.reloader.reload()
            #expect(changes.withLock { $0 } == 2)
        }
    }

    @Test("a logger whose own level is set keeps it")
    func ownLevel() {
        let level = LogLevel(.info)
        var logger = Logger(label: "test") { _ in
            LeveledLogHandler(SwiftLogNoOpLogHandler(), level: level)
        }
        let other = logger
        logger.logLevel = .error
        for changed in Logger.Level.allCases {
            level.change(to: changed)
            #expect(level.current == changed && other.logLevel == changed)
            #expect(logger.logLevel == .error)
        }
    }
}

/// Log records as text: level, message, metadata.
private final class Records: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { self.texts.withLock { $0 } }

    func append(_ text: String) { self.texts.withLock { $0.append(text) } }
}

private struct RecordingLogHandler: LogHandler {
    let records: Records
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let metadata = (event.metadata ?? [:]).map { key, value in
            guard case .array(let values) = value else { return "\(key)=\(value)" }
            return "\(key)=" + values.map { "\($0)" }.joined(separator: ",")
        }
        self.records.append(
            "\(event.level) \(event.message) \(metadata.joined(separator: " "))")
    }
}
