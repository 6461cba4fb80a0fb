// librdkafka's mock cluster in a process of its own, which tests tell what to do wrong.
internal import Foundation
internal import Glibc
package import KafkaSink
internal import Synchronization
package import TestSupport
internal import Testing

/// A cluster in memory. It ends with the test's process, which holds its standard input.
package final class TestCluster: @unchecked Sendable {
    /// The program that `make test-swift` has compiled; nil where it has not.
    package static let program = ProcessInfo.processInfo.environment["SIGHTLINE_TEST_KAFKA"]

    /// One that tests share which do nothing wrong to it; each has topics of its own.
    package static func shared() throws -> TestCluster {
        try Self.sharedOne.withLock { shared in
            if let shared { return shared }
            let cluster = try TestCluster()
            shared = cluster
            return cluster
        }
    }

    private static let sharedOne = Mutex<TestCluster?>(nil)

    /// Such as `127.0.0.1:40001`.
    package let brokers: String
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let turn = Mutex(())

    package init() throws {
        self.process.executableURL = URL(filePath: try #require(Self.program))
        self.process.arguments = ["1"]
        self.process.standardInput = self.input
        self.process.standardOutput = self.output
        try self.process.run()
        self.brokers = Self.line(of: self.output)
    }

    // A new process has the signals blocked that its parent's thread has, SIGTERM among them.
    deinit { kill(self.process.processIdentifier, SIGKILL) }

    /// Suspends the process: it answers nobody, and closes nothing. Returns once each of its
    /// threads has stopped: one that runs on another core answers still.
    package func suspend() {
        _ = self.process.suspend()
        var end = siginfo_t()
        let options = WSTOPPED | WNOWAIT
        while waitid(P_PID, id_t(self.process.processIdentifier), &end, options) != 0 {
            precondition(errno == EINTR, "waitid fails with errno \(errno)")
        }
    }

    /// Lets it go on.
    package func resume() { _ = self.process.resume() }

    /// Makes a topic of one partition, which has all messages in their order, unless it is there.
    package func makeTopic(_ name: String) throws {
        let answer = try self.answer(to: "topic \(name) 1")
        try #require(["ok", "Broker: Topic already exists"].contains(answer))
    }

    /// Sends a command, and expects that it is understood.
    package func tell(_ command: String) throws {
        let answer = try self.answer(to: command)
        try #require(answer == "ok", "\(command): \(answer)")
    }

    private func answer(to command: String) throws -> String {
        try self.turn.withLock { _ in
            try self.input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
            return Self.line(of: self.output)
        }
    }

    private static func line(of pipe: Pipe) -> String {
        var line: [UInt8] = []
        while let byte = pipe.fileHandleForReading.readData(ofLength: 1).first, byte != 10 {
            line.append(byte)
        }
        return String(decoding: line, as: UTF8.self)
    }
}

extension KafkaConfiguration {
    /// A topic of the shared cluster, named like the test's directory.
    package static func test(_ directory: TemporaryDirectory) throws -> KafkaConfiguration {
        try .test(.shared(), topic: URL(filePath: directory.path).lastPathComponent)
    }

    /// A topic of a cluster, with waits that a busy machine does not exceed.
    package static func test(_ cluster: TestCluster, topic: String = "hits") -> KafkaConfiguration {
        var configuration = KafkaConfiguration()
        configuration.brokers = cluster.brokers
        configuration.topic = topic
        // It fails a request and takes those behind it, which brokers refuse by their numbers.
        configuration.maxInFlight = 1
        configuration.requestTimeout = .seconds(20)
        configuration.deliveryTimeout = .seconds(60)
        return configuration
    }
}
