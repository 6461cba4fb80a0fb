// API keys: the file that holds them, and what becomes of those that clients present.
@testable internal import Credentials
internal import Foundation
internal import TestSupport
internal import Testing

struct APIKeyTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let nowMicroseconds: Int64 = 1_800_000_000_000_000

    private func record(
        _ key: APIKey, _ tenant: String = "tenant-a", scopes: [String] = [], expires: Date? = nil
    ) throws -> KeyRecord {
        KeyRecord(
            key, tenant: try #require(Tenant(tenant)), name: "test", scopes: scopes,
            created: Self.now, expires: expires)
    }

    private func refusal(_ key: APIKey, _ table: KeyTable, at time: Int64? = nil)
        -> CredentialRefusal?
    {
        do {
            _ = try table.principal(of: key, now: time ?? Self.nowMicroseconds)
            return nil
        } catch {
            return error
        }
    }

    @Test("a key is read as it was written, and no two are alike")
    func form() throws {
        let keys = (0..<100).map { _ in APIKey() }
        #expect(Set(keys.map(\.text)).count == 100 && Set(keys.map(\.id)).count == 100)
        for key in keys {
            let read = try #require(APIKey(key.text))
            #expect(read.id == key.id && read.digest == key.digest)
            #expect(key.text.hasPrefix("slk_") && key.text.utf8.count == 64)
        }
    }

    @Test("nothing but a whole key is one")
    func malformed() {
        let text = APIKey().text
        let start = String(text.prefix(63))
        let bad: [String] = [
            "", "slk_", "\(text.dropLast())", "\(text)A", " \(text)", "\(text)\n", "slk_\(text)",
            "SLK_\(text.dropFirst(4))", "\(text.prefix(20))-\(text.dropFirst(21))", "\(start)é",
            "\(start)=", "slk_" + String(repeating: "G", count: 60),
        ]
        for text in bad { #expect(APIKey(text) == nil, "\(text.utf8.count) bytes") }
    }

    @Test("a description of a key, or of its record, leaves the secret out")
    func descriptions() throws {
        let key = APIKey()
        let secret = String(key.text.suffix(43))
        let record = try self.record(key)
        for text in ["\(key)", "\(record)", String(reflecting: record)] {
            #expect(!text.contains(secret))
        }
    }

    @Test("a key is its tenant's; a wrong secret and an unknown id are refused")
    func lookup() throws {
        let (key, other) = (APIKey(), APIKey())
        let table = KeyTable([try self.record(key)])
        let principal = try table.principal(of: key, now: Self.nowMicroseconds)
        #expect(
            principal
                == Principal(
                    tenant: try #require(Tenant("tenant-a")), proof: .key(id: key.id), expiry: nil))
        #expect(self.refusal(other, table) == .unknownKey)
        let mixed = try #require(APIKey("slk_\(key.id)_" + other.text.suffix(43)))
        #expect(self.refusal(mixed, table) == .wrongSecret)
        #expect(self.refusal(key, KeyTable([])) == .unknownKey)
    }

    @Test("a key ends at its expiry: taken a microsecond before, refused at it")
    func expiry() throws {
        let key = APIKey()
        let table = KeyTable([try self.record(key, expires: Self.now)])
        #expect(self.refusal(key, table, at: Self.nowMicroseconds - 1) == nil)
        #expect(self.refusal(key, table, at: Self.nowMicroseconds) == .expired)
        let principal = try table.principal(of: key, now: 0)
        #expect(principal.expiry == Self.nowMicroseconds)
    }

    @Test("a revoked key is refused, and a key without the scope too")
    func revokedAndScope() throws {
        let key = APIKey()
        var record = try self.record(key, scopes: ["read", "write"])
        let principal = try KeyTable([record]).principal(of: key, now: 0)
        #expect(principal.scopes == ["read", "write"])
        try principal.check("write")
        #expect(throws: CredentialRefusal.scope) { try principal.check("writ") }
        record.revoked = Self.now
        #expect(self.refusal(key, KeyTable([record])) == .revoked)
    }

    @Test("digests are compared whole, whichever byte differs")
    func comparison() {
        let digest = APIKey().digest
        #expect(digest.count == 32 && KeyTable.areEqual(digest, digest))
        for index in digest.indices {
            var other = digest
            other[index] ^= 1
            #expect(!KeyTable.areEqual(digest, other))
        }
        #expect(!KeyTable.areEqual(digest, Array(digest.dropLast())))
        #expect(!KeyTable.areEqual(digest, []))
    }

    // MARK: The file

    @Test("keys are written and read again, by their owner alone, and never their secrets")
    func file() async throws {
        try await TestDirectory.with { directory in
            let file = KeysFile(path: directory + "/keys.jsonl")
            let key = APIKey()
            let record = try self.record(key, scopes: ["write"], expires: Self.now)
            try file.update { $0.append(record) }
            let other = try self.record(APIKey(), "tenant-b")
            try file.update { $0.append(other) }
            #expect(try file.records() == [record, other])
            let text = try String(contentsOfFile: file.path, encoding: .utf8)
            #expect(!text.contains(key.text.suffix(43)) && text.contains(key.id))
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            try file.update { $0[0].revoked = Self.now }
            #expect(try file.records().map { $0.revoked } == [Self.now, nil])
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(Set(names) == ["keys.jsonl", "keys.jsonl.lock"])
        }
    }

    @Test("a change keeps the mode of the file", arguments: [0o600, 0o640, 0o644])
    func mode(_ mode: Int) async throws {
        try await TestDirectory.with { directory in
            let file = KeysFile(path: directory + "/keys.jsonl")
            for _ in 1...2 {
                let record = try self.record(APIKey())
                try file.update { $0.append(record) }
                try FileManager.default.setAttributes(
                    [.posixPermissions: mode], ofItemAtPath: file.path)
            }
            try file.update { $0[0].revoked = Self.now }
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect(attributes[.posixPermissions] as? Int == mode)
        }
    }

    @Test("a change that fails leaves the file as it was")
    func failedChange() async throws {
        struct Refused: Error {}
        try await TestDirectory.with { directory in
            let file = KeysFile(path: directory + "/keys.jsonl")
            let record = try self.record(APIKey())
            try file.update { $0.append(record) }
            #expect(throws: Refused.self) {
                try file.update { records in
                    records = []
                    throw Refused()
                }
            }
            #expect(try file.records() == [record])
            #expect(throws: UnusableFileError.self) {
                try KeysFile(path: directory + "/nowhere/keys").update { _ in }
            }
        }
    }

    @Test(
        "a link in the place of the file or of its lock is refused, and what it leads to is kept",
        arguments: ["keys.jsonl", "keys.jsonl.lock"], [true, false])
    func link(_ name: String, isSymbolic: Bool) async throws {
        try await TestDirectory.with { directory in
            let (place, other) = (directory + "/" + name, directory + "/other")
            try Data().write(to: URL(filePath: other))
            if isSymbolic {
                try FileManager.default.createSymbolicLink(
                    atPath: place, withDestinationPath: other)
            } else {
                try FileManager.default.linkItem(atPath: other, toPath: place)
            }
            let error = #expect(throws: UnusableFileError.self) {
                try KeysFile(path: directory + "/keys.jsonl").update { _ in }
            }
            #expect(error?.description.hasPrefix("\(place) is not changed") == true)
            let attributes = try FileManager.default.attributesOfItem(atPath: other)
            #expect(attributes[.referenceCount] as? Int == (isSymbolic ? 1 : 2))
            #expect(try Data(contentsOf: URL(filePath: other)).isEmpty)
        }
    }

    @Test("a file with contents in the place of the lock is refused, and kept")
    func lockWithContents() async throws {
        try await TestDirectory.with { directory in
            let lock = directory + "/keys.jsonl.lock"
            try Data("of another".utf8).write(to: URL(filePath: lock))
            let error = #expect(throws: UnusableFileError.self) {
                try KeysFile(path: directory + "/keys.jsonl").update { _ in }
            }
            #expect(error?.description.contains("is no lock") == true)
            #expect(try String(contentsOfFile: lock, encoding: .utf8) == "of another")
        }
    }

    @Test("changes at the same time lose no key")
    func concurrentChanges() async throws {
        try await TestDirectory.with { directory in
            let file = KeysFile(path: directory + "/keys.jsonl")
            let records = try (0..<20).map { _ in try self.record(APIKey()) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for record in records {
                    group.addTask { try file.update { $0.append(record) } }
                }
                try await group.waitForAll()
            }
            #expect(Set(try file.records().map(\.id)) == Set(records.map(\.id)))
        }
    }

    @Test(
        "a line that is no key is named by its number, and not shown",
        arguments: [
            "nonsense", "{}", #"{"id":"1"}"#, #"{"id":"1","tenant":"t","sha256":"00"}"#, "\u{0}",
        ])
    func damaged(_ line: String) async throws {
        try await TestDirectory.with { directory in
            let file = KeysFile(path: directory + "/keys.jsonl")
            let record = try self.record(APIKey())
            try file.update { $0.append(record) }
            let text = try String(contentsOfFile: file.path, encoding: .utf8) + line + "\n"
            try Data(text.utf8).write(to: URL(filePath: file.path))
            let error = #expect(throws: UnusableFileError.self) { try file.records() }
            #expect(error?.description.contains("keys.jsonl:2 ") == true)
            #expect(error?.description.contains("nonsense") == false)
        }
    }

    @Test("an id that stands twice, a digest that is none, and a tenant that is none are refused")
    func contradictions() async throws {
        try await TestDirectory.with { directory in
            let file = KeysFile(path: directory + "/keys.jsonl")
            let record = try self.record(APIKey())
            try file.update { $0 = [record] }
            let text = try String(contentsOfFile: file.path, encoding: .utf8)
            for bad in [
                text + text, text.replacingOccurrences(of: record.sha256.prefix(2), with: "+f"),
                text.replacingOccurrences(of: "tenant-a", with: "Tenant A"),
            ] {
                try Data(bad.utf8).write(to: URL(filePath: file.path))
                #expect(throws: UnusableFileError.self) { try file.records() }
            }
        }
    }

    @Test("a file over the limit is refused, one at the limit is read")
    func fileSize() async throws {
        try await TestDirectory.with { directory in
            let path = directory + "/file"
            try Data(repeating: 0x20, count: 100).write(to: URL(filePath: path))
            #expect(try ReadableFile.read(path, maxBytes: 100).count == 100)
            #expect(throws: UnusableFileError.self) { try ReadableFile.read(path, maxBytes: 99) }
            #expect(throws: UnusableFileError.self) {
                try ReadableFile.read(directory, maxBytes: 9)
            }
        }
    }
}
