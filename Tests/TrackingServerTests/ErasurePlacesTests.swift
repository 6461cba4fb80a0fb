// The places where a subject is erased: each entry of the data directory has one writer.
internal import AdminServer
internal import Delivery
internal import Foundation
internal import Logging
@testable internal import Operations
internal import Pacing
@testable internal import ServerConfiguration
internal import ServerTestSupport
internal import SinkKit
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules
@testable internal import TrackingServer

struct ErasurePlacesTests {
    /// The entries of a directory, and those that belong to no place.
    struct Row: Sendable {
        let names: [String]
        let unknown: [String]
    }

    @Test(
        "an entry is known by its name, and what SQLite keeps beside a database by the database's",
        arguments: [
            Row(names: [], unknown: []),
            Row(names: ["a.db", "a.db-wal", "a.db-shm", "a.db-journal"], unknown: []),
            Row(names: ["a.db-wal"], unknown: []),
            Row(names: ["b.db", "b.db-wal", "b.db-shm"], unknown: ["b.db"]),
            // Whose log it is cannot be told.
            Row(names: ["b.db-wal", "a.db"], unknown: ["b.db-wal"]),
            Row(
                names: ["a.db.bak", "z", "a.db", "3.damaged"],
                unknown: ["3.damaged", "a.db.bak", "z"]),
            Row(names: ["-wal"], unknown: ["-wal"]),
        ])
    func unknown(_ row: Row) {
        #expect(ErasurePlaces.unknown(row.names, known: ["a.db"]) == row.unknown)
    }

    /// The sinks of a server; where they do not run, what is taken out never ends.
    private struct Sinks {
        var configuration = ServerConfiguration()
        let running: RunningSinks
        private let letters: DeadLetters
        private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

        init(_ names: [String], ownSinks: [any Sink] = [], in directory: String) throws {
            self.configuration.dataDirectory = directory
            self.configuration.listedSinks =
                names.map { ListedSink(.sqlite, name: $0) }
                + ownSinks.map { ListedSink(.discard, name: $0.name) }
            self.letters = try DeadLetters(path: directory + "/dead_letters.db")
            let journal = try Journal(
                directory: "", sinks: self.configuration.journalSinks, configuration: .diskless,
                onFailure: { _ in })
            self.running = try RunningSinks(
                self.configuration, journal, self.letters, ServerMetrics(),
                forgotten: ForgottenSubjects(), logger: self.logger, ownSinks: ownSinks)
        }

        /// Puts other sinks in force, as a reload does.
        mutating func reload(_ names: [String]) throws {
            self.configuration.listedSinks = names.map { ListedSink(.sqlite, name: $0) }
            try self.running.prepare(self.configuration)()
        }

        var places: [SubjectEraser.Place] {
            ErasurePlaces(
                directory: self.configuration.dataDirectory, version: "", sinks: self.running,
                deadLetters: self.letters, quarantine: nil, forgotten: ForgottenSubjects(),
                logger: self.logger
            ).all()
        }
    }

    @Test("the file of a sink that was taken out is no place of its own until it has ended")
    func ending() async throws {
        try await TestDirectory.with { directory in
            var sinks = try Sinks(["sqlite", "second"], in: directory)
            let file = directory + "/hits-second.db"
            #expect(FileManager.default.fileExists(atPath: file))
            let names = ["sqlite", "second", "dead_letters.db", "journal"]
            #expect(sinks.places.map(\.name) == names)
            try sinks.reload(["sqlite"])
            #expect(sinks.places.map(\.name) == names)
            let ending = try #require(sinks.places.first { $0.name == "second" })
            guard case .last(let erasure) = await ending.erase(Self.subject) else {
                Issue.record("it is erased in pieces")
                return
            }
            #expect(erasure.outcome == .failed)
        }
    }

    /// Has a turn of its sink from an erasure on until it is released.
    private final class HeldSink: ErasableSink {
        let name: String
        private let hasBegun = Signal()
        private let isReleased = Signal()

        init(_ name: String) { self.name = name }

        func deliver(_ hits: HitBatch) async -> SinkAnswer { .delivered }

        func erase(_ subject: Subject) async -> ErasurePiece {
            self.hasBegun.raise()
            await self.isReleased.wait()
            return .last(.erased(0))
        }

        func waitUntilHeld() async { await self.hasBegun.wait() }

        func release() { self.isReleased.raise() }
    }

    @Test(
        "a sink that has ended is a place while one that was taken out with it has not",
        .timeLimit(.minutes(10)))
    func removedTogether() async throws {
        try await TestDirectory.with { directory in
            let held = HeldSink("b")
            var sinks = try Sinks(["sqlite"], ownSinks: [HeldSink("a"), held], in: directory)
            let running = sinks.running
            let delivering = Task.immediate { try await running.run() }
            let second = try #require(running.sinks.first { $0.name == "b" }).sink
            let erasing = Task { await second.erase(Self.subject) }
            await held.waitUntilHeld()
            try sinks.reload(["sqlite"])
            while running.openSinks.ending.map(\.name) != ["b"] { await Task.yield() }
            let others = ["dead_letters.db", "journal"]
            #expect(sinks.places.map(\.name) == ["sqlite", "b", "a"] + others)
            let error = await #expect(throws: SinkOperationError.self) {
                try await running.forget("a")
            }
            #expect(error?.description.contains("is in use") == true)
            held.release()
            _ = await erasing.value
            while !running.openSinks.ending.isEmpty { await Task.yield() }
            #expect(sinks.places.map(\.name) == ["sqlite", "a", "b"] + others)
            delivering.cancel()
            _ = await delivering.result
        }
    }

    @Test(
        "a sink that a reload takes out before delivery begins ends too, and its file is a place",
        .timeLimit(.minutes(10)))
    func removedBeforeDelivery() async throws {
        try await TestDirectory.with { directory in
            var sinks = try Sinks(["sqlite", "second"], in: directory)
            let running = sinks.running
            try sinks.reload(["sqlite", "third"])
            let delivering = Task { try await running.run() }
            while !running.openSinks.ending.isEmpty { await Task.yield() }
            #expect(
                sinks.places.map(\.name) == [
                    "sqlite", "third", "second", "dead_letters.db", "hits-second.db", "journal",
                ])
            delivering.cancel()
            _ = await delivering.result
        }
    }

    @Test("what a sink has left is not erased beside one that a reload has added meanwhile")
    func added() async throws {
        try await TestDirectory.with { directory in
            var sinks = try Sinks(["sqlite"], in: directory)
            try Data().write(to: URL(filePath: directory + "/hits-second.db"))
            let left = try #require(sinks.places.first { $0.name == "hits-second.db" })
            guard case .followed(let next) = await left.erase(Self.subject) else {
                Issue.record("it is erased in one piece")
                return
            }
            try sinks.reload(["sqlite", "second"])
            for piece in [await next(), await left.erase(Self.subject)] {
                guard case .last(let erasure) = piece else {
                    Issue.record("it goes on")
                    continue
                }
                #expect(erasure.outcome == .failed)
            }
        }
    }

    private static let subject = Subject(tenant: "default", ids: ["subject-1"])
}
