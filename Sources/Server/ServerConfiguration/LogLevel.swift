// The log level as a value that a reload can change under loggers that are in use already.
package import Logging
internal import Synchronization

/// A level that log handlers share.
package final class LogLevel: Sendable {
    private static let levels = Logger.Level.allCases
    // Read before every log record, so it may not cost a lock.
    private let index: Atomic<Int>

    /// A level to begin with.
    package init(_ level: Logger.Level) { self.index = Atomic(Self.index(level)) }

    /// The level now.
    package var current: Logger.Level { Self.levels[self.index.load(ordering: .relaxed)] }

    /// Changes it for every handler that shares it.
    package func change(to level: Logger.Level) {
        self.index.store(Self.index(level), ordering: .relaxed)
    }

    private static func index(_ level: Logger.Level) -> Int {
        self.levels.firstIndex(of: level) ?? 0
    }
}

/// A log handler whose level is shared, until somebody sets one on it alone.
package struct LeveledLogHandler: LogHandler {
    private var handler: any LogHandler
    private let shared: LogLevel
    private var own: Logger.Level?

    /// Puts a shared level before a handler.
    package init(_ handler: any LogHandler, level: LogLevel) {
        self.handler = handler
        self.shared = level
    }

    /// The handler's own level where it was set, or else the shared one.
    package var logLevel: Logger.Level {
        get { self.own ?? self.shared.current }
        set { self.own = newValue }
    }

    /// The handler's metadata.
    package var metadata: Logger.Metadata {
        get { self.handler.metadata }
        set { self.handler.metadata = newValue }
    }

    /// The handler's provider of metadata.
    package var metadataProvider: Logger.MetadataProvider? {
        get { self.handler.metadataProvider }
        set { self.handler.metadataProvider = newValue }
    }

    /// A value of the handler's metadata.
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.handler[metadataKey: key] }
        set { self.handler[metadataKey: key] = newValue }
    }

    /// Writes a record.
    package func log(event: LogEvent) { self.handler.log(event: event) }
}
