// What the files of a data directory may grow to.
@testable internal import ServerConfiguration
internal import Testing

struct DiskBudgetTests {
    private static let flags = [
        "journal.max_bytes=1GB", "quarantine.max_bytes=2GB", "sqlite.max_bytes=4GB",
        "jsonl.max_bytes=8GB", "jsonl.file_bytes=1GB",
    ]

    private static func budget(_ more: String...) async throws -> DiskBudget {
        DiskBudget(try await Configurations.read(assignments: Self.flags + more))
    }

    @Test("every limit of a file in the data directory counts, those of each sink too")
    func limits() async throws {
        #expect(try await Self.budget().bytes >> 30 == 1 + 2 + 4)
        #expect(try await Self.budget("sink=jsonl").bytes >> 30 == 1 + 2 + 9)
        let budget = try await Self.budget(
            "sinks=[{type: sqlite, max_bytes: 16GB}, {type: jsonl}, {type: discard}]")
        #expect(budget.bytes >> 30 == 1 + 2 + 16 + 9)
        #expect(
            budget.limits.map(\.name) == [
                "journal.max_bytes", "quarantine.max_bytes", "the sink sqlite", "the sink jsonl",
            ])
    }

    @Test("what has no limit, or no file, does not count")
    func unlimited() async throws {
        let budget = DiskBudget(
            try await Configurations.read(
                assignments: ["quarantine.max_bytes=0", "sqlite.max_bytes=0"]))
        #expect(budget.limits.map(\.name) == ["journal.max_bytes"])
    }

    @Test("a budget fits into its own bytes, and not into one less")
    func edge() async throws {
        let budget = try await Self.budget()
        #expect(budget.fits(into: budget.bytes) && !budget.fits(into: budget.bytes - 1))
    }
}
