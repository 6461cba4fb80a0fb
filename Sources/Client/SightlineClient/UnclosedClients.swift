internal import Dispatch
internal import Foundation
internal import Synchronization

/// The clients of this process that were not closed. At its end each gets a bounded time for its
/// events, and what is lost is told, by the exit code too.
enum UnclosedClients {
    /// How long the end of a process waits for verdicts.
    private static let patience = 10
    /// How long it waits for a `run` whose task may not have started. Without one nobody sends.
    private static let startPatience = 1
    /// The exit code of a process that has lost events.
    private static let lossCode: Int32 = 1

    private static let clients = Mutex<[ObjectIdentifier: @Sendable () -> SightlineClient?]>([:])
    private static let isWatched = atexit { UnclosedClients.end() } == 0

    /// Adds a client; keeps no reference that would keep it alive.
    static func add(_ client: SightlineClient) {
        _ = Self.isWatched
        let id = ObjectIdentifier(client)
        Self.clients.withLock { $0[id] = { [weak client] in client } }
    }

    /// Removes a client that is closed, or that nobody has any more.
    static func remove(_ id: ObjectIdentifier) {
        Self.clients.withLock { _ = $0.removeValue(forKey: id) }
    }

    private static func end() {
        let found = Self.clients.withLock { Array($0.values) }
        let clients = found.compactMap { $0() }.filter { $0.loss != nil }
        if clients.isEmpty { return }
        Self.flush(clients)
        let losses = clients.compactMap(\.loss)
        for loss in losses {
            FileHandle.standardError.write(Data("sightline: the process ends: \(loss)\n".utf8))
        }
        // The functions that were registered before this one still run.
        if !losses.isEmpty { exit(Self.lossCode) }
    }

    /// Waits in vain where this thread is the only one of Swift's pool, but not for ever.
    private static func flush(_ clients: [SightlineClient]) {
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await Self.flush(
                clients, patience: .seconds(Self.patience),
                startPatience: .seconds(Self.startPatience))
            done.signal()
        }
        _ = done.wait(timeout: .now() + .seconds(Self.patience + Self.startPatience))
    }

    /// Waits for the verdicts on all events of clients that run, or begin to within
    /// `startPatience`.
    static func flush(
        _ clients: [SightlineClient], patience: Duration, startPatience: Duration
    ) async {
        await withDiscardingTaskGroup { group in
            for client in clients where !client.isOver {
                group.addTask {
                    // What is left is told by the caller.
                    try? await client.began.wait(for: startPatience)
                    guard client.hasBegun else { return }
                    _ = try? await client.flush(timeout: patience)
                }
            }
        }
    }
}
