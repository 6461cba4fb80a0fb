internal import Foundation
internal import Logging
@testable internal import Operations
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingRules

struct QuarantineTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func quarantine(_ directory: String, queueBytes: Int) throws -> Quarantine {
        var configuration = QuarantineConfiguration()
        configuration.queueBytes = queueBytes
        let file = try QuarantineFile(
            directory: directory, configuration, version: "1.2", logger: nil)
        return Quarantine(file, configuration, logger: Self.logger)
    }

    private func rejected(_ count: Int) throws -> AdmittedRequest {
        try TappedRequests.admitted(
            (0..<count).map { number in
                .with {
                    $0 = TestEvents.push("h\(1000 + number)")
                    $0.push.kind = .unspecified
                }
            }, keeps: .recoverable,
            // What was received long ago would be deleted at once.
            receiveTime: Int64(Date().timeIntervalSince1970 * 1_000_000))
    }

    @Test("events wait up to quarantine.queue_bytes, and one beyond is dropped and counted")
    func queue() async throws {
        try await TestDirectory.with { directory in
            let request = try self.rejected(10)
            let bytes = QuarantinedEvent.bytes(
                request.keptEvents.count / 10, request.refusals[0].judgement.violations)
            for (queueBytes, dropped) in [(10 * bytes, 0), (10 * bytes - 1, 1)] {
                let quarantine = try self.quarantine(directory, queueBytes: queueBytes)
                quarantine.keep([request], of: "a")
                #expect(quarantine.currentCounts.dropped == dropped)
                quarantine.keep([request], of: "a")
                #expect(quarantine.currentCounts.dropped == 10 + dropped)
            }
        }
    }

    @Test("a tenant that fills the queue takes nothing from the share of another")
    func shares() async throws {
        try await TestDirectory.with { directory in
            let request = try self.rejected(10)
            let bytes = QuarantinedEvent.bytes(
                request.keptEvents.count / 10, request.refusals[0].judgement.violations)
            let quarantine = try self.quarantine(directory, queueBytes: 20 * bytes)
            for _ in 0..<3 { quarantine.keep([request], of: "loud") }
            #expect(quarantine.currentCounts.dropped == 10)
            // A half is its own, and not one event more.
            quarantine.keep([request], of: "quiet")
            #expect(quarantine.currentCounts.dropped == 10)
            quarantine.keep([try self.rejected(1)], of: "quiet")
            #expect(quarantine.currentCounts.dropped == 11)
            // Once they are written, both have room again.
            let running = Task { try await quarantine.run() }
            running.cancel()
            try await running.value
            #expect(quarantine.currentCounts.kept == 30)
            for tenant in ["quiet", "loud"] { quarantine.keep([request], of: tenant) }
            #expect(quarantine.currentCounts.dropped == 11)
        }
    }

    @Test("nothing is kept of a request that is to be sent again, however often it is")
    func retried() async throws {
        try await TestDirectory.with { directory in
            // Without room, what would be kept is counted.
            let quarantine = try self.quarantine(directory, queueBytes: 0)
            let (retried, refused) = (try self.rejected(3), try self.rejected(2))
            retried.isToRetry = true
            quarantine.keep([retried, refused, retried], of: "a")
            #expect(quarantine.currentCounts.dropped == 2)
        }
    }

    @Test("what a reader of verdicts alone may see is not written, and what waits at the end is")
    func shutdown() async throws {
        try await TestDirectory.with { directory in
            let quarantine = try self.quarantine(directory, queueBytes: 1 << 20)
            let off = try TappedRequests.admitted([TestEvents.push("off", flag: "off")])
            #expect(!off.keptEvents.isEmpty)
            quarantine.keep([off, try self.rejected(3)], of: "a")
            let running = Task { try await quarantine.run() }
            // Cancelled before or after it has written: what waits is written in both cases.
            running.cancel()
            try await running.value
            #expect(quarantine.currentCounts.kept == 3)
            #expect(quarantine.currentCounts.bytes > 0)
            #expect(try await quarantine.file.lastID() == 3)
        }
    }
}
