internal import Foundation
internal import Synchronization
internal import UnixSignals

/// A folder for temporary files that only its owner can enter. It is removed after the work that
/// needs it, and where a signal ends the process; a crash and kill -9 leave it.
final class TemporaryFolder: Sendable {
    private struct State {
        var isRemoved = false
        var isEnding = false
    }

    /// By what a terminal, a shell or a service manager ends a command.
    private static let signals: [UnixSignal] = [.sigint, .sigterm, .sighup]
    /// How often the removal begins again where a library has made a file in the meantime.
    private static let maxAttempts = 10

    private let path: String
    private let state = Mutex(State())

    /// Makes a folder, calls `work` with its path, and removes it. After a signal `work` may fail
    /// for want of the folder; its error is never thrown then, since the signal ends the process.
    ///
    /// - Throws: `InputError` if no folder can be made, or errors of `work`.
    static func with<Value: Sendable>(
        _ name: String, _ work: (String) async throws -> Value
    ) async throws -> Value {
        // One that is ignored, as by nohup, stays so.
        let trapped = Self.signals.filter { !Self.isIgnored($0.rawValue) }
        let signals = await UnixSignalsSequence(trapping: trapped)
        defer { for number in trapped { signal(number.rawValue, SIG_DFL) } }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            let folder = try TemporaryFolder(name)
            group.addTask {
                for await number in signals { folder.end(by: number.rawValue) }
            }
            defer { folder.remove() }
            return try await work(folder.path)
        }
    }

    private init(_ name: String) throws {
        let parent = FileManager.default.temporaryDirectory
        self.path = parent.appending(path: "\(name)-\(UUID().uuidString)")
            .path(percentEncoded: false)
        guard mkdir(self.path, 0o700) == 0 else {
            throw InputError(
                file: parent.path(percentEncoded: false),
                reason: "no temporary folder can be made there: \(String(cString: strerror(errno)))"
                    + "; TMPDIR names another place")
        }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private func end(by number: Int32) -> Never {
        self.state.withLock { state in
            state.isEnding = true
            self.removeOnce(&state)
        }
        ProcessEnd.bySignal(number)
    }

    /// Does not return while a signal ends the process.
    private func remove() {
        let isEnding = self.state.withLock { state in
            self.removeOnce(&state)
            return state.isEnding
        }
        while isEnding { pause() }
    }

    private func removeOnce(_ state: inout State) {
        for _ in 0..<Self.maxAttempts where !state.isRemoved {
            // What cannot be removed is in the directory for temporary files.
            try? FileManager.default.removeItem(atPath: self.path)
            state.isRemoved = !FileManager.default.fileExists(atPath: self.path)
        }
        state.isRemoved = true
    }
}
