internal import Delivery
@testable internal import Operations
internal import SightlineProtos
internal import SinkKit
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import WireFormat

struct ForgottenFileTests {
    private static func subject(_ id: String, of tenant: String = "a") -> Subject {
        Subject(tenant: tenant, ids: [id])
    }

    private static func isForgotten(_ id: String, in file: ForgottenFile) -> Bool {
        "a".withBytes { tenant in
            id.withBytes { file.subjects.contains($0, tenant: tenant) }
        }
    }

    @Test(
        "privacy.max_forgotten ids are remembered, also by the next process, and one beyond is not")
    func limit() async throws {
        try await TestDirectory.with { directory in
            for isFirst in [true, false] {
                let file = try await ForgottenFile(directory: directory, maxCount: 3, logger: nil)
                if isFirst {
                    for id in ["1", "2", "3"] { try await file.forget(Self.subject(id)) }
                }
                let error = await #expect(throws: ErasureError.self) {
                    try await file.forget(Self.subject("4"))
                }
                #expect(error?.description.contains("privacy.max_forgotten is 3") == true)
                // What is remembered already takes no more room.
                try await file.forget(Self.subject("2"))
                let forgotten = ["1", "2", "3", "4"].map { Self.isForgotten($0, in: file) }
                #expect(forgotten == [true, true, true, false])
            }
        }
    }
}
