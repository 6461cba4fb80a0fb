// SIGHUP: the sources are read again, and what may change in a running server changes.
internal import ConfigurationKeys
package import Logging
internal import Pacing
internal import ServiceLifecycle
internal import Synchronization
internal import UnixSignals

/// Reads the configuration again at each SIGHUP. One that is wrong changes nothing, and every
/// problem of it is logged.
package final class Reloader: Service {
    /// What came of the last attempt to put a configuration in force.
    package struct Outcome: Sendable {
        /// Whether it is in force; the start's is.
        package var isInForce = true
        /// When one was last put in force, in microseconds since 1970.
        package var time: Int64
    }

    private struct State {
        var current: LoadedConfiguration
        var outcome = Outcome(time: WallClock.microseconds())
        var parts: [Reloadable] = []
        var onBegin: @Sendable () -> Void = {}
        var onEnd: @Sendable () -> Void = {}
    }

    private let source: ConfigurationSource
    private let start: LoadedConfiguration
    private let logger: Logger
    private let state: Mutex<State>

    /// A reloader of what was loaded at start.
    ///
    /// - Parameters:
    ///   - source: where it came from, and will come from again.
    ///   - start: what the server runs with.
    ///   - logger: is told what changed, what needs a restart, and what is wrong.
    package init(source: ConfigurationSource, start: LoadedConfiguration, logger: Logger) {
        self.source = source
        self.start = start
        self.logger = logger
        self.state = Mutex(State(current: start))
    }

    /// What came of the last reload, or of the start.
    package var outcome: Outcome { self.state.withLock { $0.outcome } }

    /// Adds a part that takes new configurations; before the server runs.
    package func add(_ part: Reloadable) { self.state.withLock { $0.parts.append(part) } }

    /// Has each reload by a signal told of, as it begins and ends; before the server runs.
    package func observe(
        begin: @escaping @Sendable () -> Void, end: @escaping @Sendable () -> Void
    ) {
        self.state.withLock { ($0.onBegin, $0.onEnd) = (begin, end) }
    }

    /// Waits for signals until shutdown.
    package func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() {
            let (onBegin, onEnd) = self.state.withLock { ($0.onBegin, $0.onEnd) }
            onBegin()
            await self.reload()
            onEnd()
        }
    }

    /// Reads everything again, and puts it in force whole or not at all.
    package func reload() async {
        let next = self.source.load()
        do {
            let changes = try await self.prepare(try next.checked())
            for change in changes { change() }
        } catch {
            for problem in error.problems {
                self.logger.error(
                    "not reloaded: the configuration stays as it was",
                    metadata: ["problem": "\(problem)"])
            }
            self.state.withLock { $0.outcome.isInForce = false }
            return
        }
        let before = self.state.withLock { state in
            state.outcome = Outcome(time: WallClock.microseconds())
            defer { state.current = next }
            return state.current
        }
        self.logger.info(
            "reloaded", metadata: ["changed": Self.names(next, from: before, reloadable: true)])
        let waiting = Self.names(next, from: self.start, reloadable: false)
        guard waiting != .array([]) else { return }
        self.logger.warning(
            "changed, but in force only after a restart", metadata: ["keys": waiting])
    }

    private func prepare(
        _ configuration: ServerConfiguration
    ) async throws(ConfigurationError) -> [@Sendable () -> Void] {
        var changes: [@Sendable () -> Void] = []
        var problems: [String] = []
        for part in self.state.withLock({ $0.parts }) {
            do {
                changes.append(try await part.prepare(configuration))
            } catch let error as ConfigurationError {
                problems += error.problems
            } catch {
                problems.append("\(part.name): \(error)")
            }
        }
        guard problems.isEmpty else { throw ConfigurationError(problems) }
        return changes
    }

    /// The keys that differ, and no values: some are secrets.
    private static func names(
        _ next: LoadedConfiguration, from other: LoadedConfiguration, reloadable: Bool
    ) -> Logger.MetadataValue {
        let changed = next.changed(from: other).filter { $0.key.isReloadable == reloadable }
        return .array(changed.map { .string($0.key.name) })
    }
}
