// Whose turn it is to have a subject forgotten.
internal import Logging
@testable internal import Operations
internal import Pacing
internal import ServiceLifecycle
internal import SinkKit
internal import Synchronization
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(10)))
struct SubjectEraserTests {
    /// A place whose first erasure lasts until it is opened.
    private final class Gate: Sendable {
        private let opened = Signal()
        private let tenants = Mutex<[String]>([])

        /// The tenants in the order in which they came.
        var visitors: [String] { self.tenants.withLock { $0 } }

        func open() { self.opened.raise() }

        func waitForVisitor() async {
            while self.visitors.isEmpty { await Task.yield() }
        }

        /// Erases in pieces; of the tenant "quiet" in one.
        func erase(_ subject: Subject) async -> ErasurePiece {
            await self.erase(subject, pieces: subject.tenant == "quiet" ? 1 : 3)
        }

        private func erase(_ subject: Subject, pieces: Int) async -> ErasurePiece {
            let isFirst = self.tenants.withLock { tenants in
                tenants.append(subject.tenant)
                return tenants.count == 1
            }
            if isFirst { await self.opened.wait() }
            return pieces == 1
                ? .last(.erased(0))
                : .followed { await self.erase(subject, pieces: pieces - 1) }
        }
    }

    private func eraser(_ directory: String, _ gate: Gate) async throws -> SubjectEraser {
        SubjectEraser(
            try await ForgottenFile(directory: directory, maxCount: 100, logger: nil),
            keys: try SubjectKeys(PrivacyConfiguration()),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { [SubjectEraser.Place("gate", gate.erase)] }
    }

    @Test(
        "a tenant's subject waits for a piece of another's, and a second of one tenant is refused")
    func turns() async throws {
        try await TestDirectory.with { directory in
            let gate = Gate()
            let eraser = try await self.eraser(directory, gate)
            let first = Task.immediate { try await eraser.forget("1", of: "loud") }
            await gate.waitForVisitor()
            let second = Task.immediate { try await eraser.forget("1", of: "quiet") }
            for tenant in ["loud", "quiet"] {
                let error = await #expect(throws: ErasureError.self) {
                    try await eraser.forget("2", of: tenant)
                }
                #expect(error?.description.contains("of the tenant is being forgotten") == true)
            }
            gate.open()
            for task in [first, second] { #expect(try await !task.value.hasFailed) }
            #expect(gate.visitors.sorted() == ["loud", "loud", "loud", "quiet"])
            #expect(gate.visitors.last == "loud", "the second did not wait for the first's end")
            #expect(try await !eraser.forget("2", of: "quiet").hasFailed)
        }
    }

    @Test("who waits when the server stops is told to ask again, and nothing is done")
    func stop() async throws {
        try await TestDirectory.with { directory in
            let gate = Gate()
            let eraser = try await self.eraser(directory, gate)
            let first = Task.immediate { try await eraser.forget("1", of: "loud") }
            await gate.waitForVisitor()
            let second = Task.immediate { try await eraser.forget("1", of: "quiet") }
            second.cancel()
            let error = await #expect(throws: ErasureError.self) { try await second.value }
            #expect(error?.description == "the server is stopping: ask again")
            gate.open()
            #expect(try await !first.value.hasFailed)
            #expect(gate.visitors == ["loud", "loud", "loud"])
        }
    }

    /// Forgets a subject, as a call does that the stop waits for.
    private struct Forgetting: Service {
        let eraser: SubjectEraser
        let gate: Gate
        let receipts: AsyncStream<ErasureReceipt>.Continuation

        func run() async throws {
            try await withGracefulShutdownHandler {
                _ = self.receipts.yield(try await self.eraser.forget("1", of: "loud"))
            } onGracefulShutdown: {
                self.gate.open()
            }
        }
    }

    @Test("a stop waits for the piece that is being done, and the receipt says that it is not all")
    func stopBetweenPieces() async throws {
        try await TestDirectory.with { directory in
            let gate = Gate()
            let eraser = try await self.eraser(directory, gate)
            let receipts = AsyncStream.makeStream(of: ErasureReceipt.self)
            let group = ServiceGroup(
                services: [Forgetting(eraser: eraser, gate: gate, receipts: receipts.continuation)],
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let stopped = Task { try? await group.run() }
            await gate.waitForVisitor()
            await group.triggerGracefulShutdown()
            var iterator = receipts.stream.makeAsyncIterator()
            let receipt = await iterator.next()
            #expect(
                receipt?.places.map(\.erasure) == [.failed("the server is stopping: ask again")])
            #expect(gate.visitors == ["loud"])
            await stopped.value
        }
    }
}
