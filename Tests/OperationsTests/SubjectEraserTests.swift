// Whose turn it is to have a subject forgotten.
internal import Logging
@testable internal import Operations
internal import Pacing
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

        func erase(_ subject: Subject) async -> Erasure {
            let isFirst = self.tenants.withLock { tenants in
                tenants.append(subject.tenant)
                return tenants.count == 1
            }
            if isFirst { await self.opened.wait() }
            return .erased(0)
        }
    }

    private func eraser(_ directory: String, _ gate: Gate) async throws -> SubjectEraser {
        SubjectEraser(
            try await ForgottenFile(directory: directory, maxCount: 100, logger: nil),
            keys: try SubjectKeys(PrivacyConfiguration()),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { [SubjectEraser.Place("gate", gate.erase)] }
    }

    @Test("one tenant's subject waits for another's, and a second of one tenant is refused")
    func turns() async throws {
        try await TestDirectory.with { directory in
            let gate = Gate()
            let eraser = try await self.eraser(directory, gate)
            let first = Task.immediate { try await eraser.forget("1", of: "loud") }
            let second = Task.immediate { try await eraser.forget("1", of: "quiet") }
            for tenant in ["loud", "quiet"] {
                let error = await #expect(throws: ErasureError.self) {
                    try await eraser.forget("2", of: tenant)
                }
                #expect(error?.description.contains("of the tenant is being forgotten") == true)
            }
            gate.open()
            for task in [first, second] { #expect(try await !task.value.hasFailed) }
            #expect(gate.visitors == ["loud", "quiet"])
            #expect(try await !eraser.forget("2", of: "loud").hasFailed)
        }
    }

    @Test("who waits when the server stops is told to ask again, and nothing is done")
    func stop() async throws {
        try await TestDirectory.with { directory in
            let gate = Gate()
            let eraser = try await self.eraser(directory, gate)
            let first = Task.immediate { try await eraser.forget("1", of: "loud") }
            let second = Task.immediate { try await eraser.forget("1", of: "quiet") }
            second.cancel()
            let error = await #expect(throws: ErasureError.self) { try await second.value }
            #expect(error?.description == "the server is stopping: ask again")
            gate.open()
            #expect(try await !first.value.hasFailed)
            #expect(gate.visitors == ["loud"])
        }
    }
}
