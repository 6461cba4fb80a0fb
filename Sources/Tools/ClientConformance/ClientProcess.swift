internal import Foundation
internal import Synchronization

/// The client under test, as a process of the shell: events go to its standard input, and its lines
/// come from its standard output.
final class ClientProcess: Sendable {
    /// The last of what it has said on standard error.
    private static let maxErrorBytes = 600

    /// Its lines, up to the end of its output.
    let lines: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let errors = Pipe()
    private let errorText = Mutex(Data())
    private let isOutputOver = Atomic(false)

    /// Prepares a command of the shell.
    init(_ command: String, environment: [String: String]) {
        (self.lines, self.continuation) = AsyncStream.makeStream()
        self.process.executableURL = URL(filePath: "/bin/sh")
        // `env`, so that a command may begin with variables; `exec`, so that it is the process.
        self.process.arguments = ["-c", "exec env \(command)"]
        self.process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        self.process.standardInput = self.input
        self.process.standardOutput = self.output
        self.process.standardError = self.errors
    }

    /// Starts the process.
    func start() throws {
        try self.process.run()
        // Threads that block: sources of Dispatch fail where a descriptor is closed and used anew.
        Thread.detachNewThread {
            var rest = Data()
            Self.read(self.output) { data in
                rest.append(data)
                for line in Self.takeLines(from: &rest) { self.continuation.yield(line) }
            }
            if !rest.isEmpty { self.continuation.yield(String(decoding: rest, as: UTF8.self)) }
            self.isOutputOver.store(true, ordering: .relaxed)
            self.continuation.finish()
        }
        Thread.detachNewThread {
            Self.read(self.errors) { data in
                self.errorText.withLock { $0 = ($0 + data).suffix(Self.maxErrorBytes) }
            }
        }
    }

    private static func read(_ pipe: Pipe, _ take: (Data) -> Void) {
        while true {
            let data = pipe.fileHandleForReading.availableData
            if data.isEmpty { return }
            take(data)
        }
    }

    /// Takes out the whole lines.
    private static func takeLines(from rest: inout Data) -> [String] {
        var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        rest = Data(lines.popLast() ?? Data())
        return lines.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes lines to its standard input.
    func send(_ lines: [String]) {
        // It may have ended, which its exit tells.
        try? self.input.fileHandleForWriting.write(contentsOf: Data(lines.joined().utf8))
    }

    /// Ends its standard input.
    func endInput() {
        // Closed already where all was sent.
        try? self.input.fileHandleForWriting.close()
    }

    /// Its exit code, once it has ended; nil after `timeout`, when it was killed. Its lines end.
    func end(within timeout: Duration) async -> Int32? {
        defer { self.continuation.finish() }
        guard await self.wait(until: { !self.process.isRunning }, within: timeout) else {
            self.kill()
            return nil
        }
        // A process of its own may hold its output still.
        let grace = Duration.seconds(1)
        _ = await self.wait(until: { self.isOutputOver.load(ordering: .relaxed) }, within: grace)
        return self.process.terminationStatus
    }

    /// Looks again and again, as Foundation's own wait would hold a thread.
    private func wait(until isTrue: () -> Bool, within timeout: Duration) async -> Bool {
        let deadline = ContinuousClock.now + timeout
        while !isTrue() {
            guard ContinuousClock.now < deadline, !Task.isCancelled else { return false }
            // A cancelled one returns at once, and the loop ends.
            try? await Task.sleep(for: .milliseconds(10))
        }
        return true
    }

    /// Ends it at once.
    private func kill() {
        if self.process.isRunning { Foundation.kill(self.process.processIdentifier, SIGKILL) }
    }

    /// The last that it has said on standard error, in one line.
    var lastErrors: String {
        let text = self.errorText.withLock { String(decoding: $0, as: UTF8.self) }
        return text.split(whereSeparator: \.isNewline).suffix(3).joined(separator: " | ")
    }
}
