internal import Delivery
internal import Foundation
internal import GRDB
@testable internal import Operations
internal import SightlineProtos
internal import SinkKit
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingRules
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

    /// The keys in base64, each of 18 bytes.
    private static let (oldKey, newKey) = ("b2xkIG9sZCBvbGQgb2xkIG9s", "bmV3IG5ldyBuZXcgbmV3IG5l")

    /// What ids were recorded as when a recipient was forgotten, and as what they are afterwards.
    struct Change: Sendable {
        let before: [String]
        let after: [String]
    }

    @Test(
        "a recipient who was forgotten stays so, whichever keys come and go afterwards",
        arguments: [
            Change(before: [], after: [newKey]), Change(before: [oldKey], after: []),
            Change(before: [oldKey], after: [newKey, oldKey]),
            Change(before: [oldKey], after: [newKey]),
        ])
    func rotation(_ change: Change) async throws {
        try await TestDirectory.with { directory in
            let id = "the-forgotten-one"
            for keys in [change.before, change.after] {
                let file = try await ForgottenFile(directory: directory, maxCount: 9, logger: nil)
                let configuration = try Self.configuration(keys, in: directory)
                let subjects = try SubjectKeys(configuration)
                let admission = Admission(
                    subjects: subjects.admissionHash(configuration), forgotten: file.subjects)
                if keys == change.before {
                    #expect(try Self.recordedSubject(of: id, by: admission)?.isEmpty == false)
                    let ids = subjects.ids(of: id, tenant: "a")
                    try await file.forget(Subject(tenant: "a", ids: ids))
                }
                #expect(try Self.recordedSubject(of: id, by: admission) == "")
            }
        }
    }

    private static func configuration(
        _ keys: [String], in directory: String
    ) throws -> PrivacyConfiguration {
        var configuration = PrivacyConfiguration()
        if keys.isEmpty { return configuration }
        configuration.subject = .hashed
        configuration.keyFile = directory + "/keys"
        try Data(keys.joined(separator: "\n").utf8).write(to: URL(filePath: directory + "/keys"))
        return configuration
    }

    /// What is recorded of an event's subject; nil if the event is not accepted.
    private static func recordedSubject(
        of id: String, by admission: Admission
    ) throws -> String? {
        let event = Sightline_V1_TrackingEvent.with {
            $0 = TestEvents.push("h1")
            $0.subjectID = id
        }
        let bytes: [UInt8] = try TestEvents.request(1, [event])
        let request = bytes.withUnsafeBytes { buffer in
            admission.admit(
                admission.read(buffer, shape: .stream), bytes: buffer.count, tenant: "a",
                receiveTime: 1_000_000)
        }
        var subject: String?
        request.forEachOutcome { outcome in
            guard outcome.verdict == .accepted, let recorded = outcome.event else { return }
            subject = try? Sightline_V1_TrackingEvent(serializedBytes: Array(recorded)).subjectID
        }
        return subject
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

    @Test("a tenant that uses up privacy.max_forgotten leaves others their share")
    func shares() async throws {
        try await TestDirectory.with { directory in
            // Also after a restart: the file knows whose they are.
            var remembered: [String: Int] = [:]
            for tenants in [["loud"], ["loud", "quiet"], ["loud", "quiet", "late"]] {
                let file = try await ForgottenFile(directory: directory, maxCount: 6, logger: nil)
                for tenant in tenants {
                    for id in 0..<7 {
                        do {
                            try await file.forget(Self.subject("\(id)", of: tenant))
                            remembered[tenant, default: 0] = max(remembered[tenant] ?? 0, id + 1)
                        } catch ErasureError.full(let limit) {
                            #expect(limit == 6)
                        }
                    }
                }
            }
            #expect(remembered == ["loud": 6, "quiet": 3, "late": 2])
        }
    }

    @Test("tombstones of a build that did not count by tenant use up the bound, and not a share")
    func uncounted() async throws {
        try await TestDirectory.with { directory in
            let file = try await ForgottenFile(directory: directory, maxCount: 2, logger: nil)
            for id in ["1", "2"] { try await file.forget(Self.subject(id)) }
            try await DatabaseQueue(path: directory + "/" + ForgottenFile.name).write {
                try $0.execute(sql: "DROP TABLE tenants")
            }
            for id in ["1", "3", "4"] { try await file.forget(Self.subject(id)) }
            await #expect(throws: ErasureError.self) {
                try await file.forget(Self.subject("5"))
            }
        }
    }
}
