// Keyed hashes against the vectors of RFC 4231, and events whose subject is replaced against
// SwiftProtobuf.
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules
internal import WireFormat

struct KeyedHashTests {
    /// A test case of RFC 4231, section 4, with the first 16 bytes of its HMAC-SHA-256.
    struct Vector {
        let key: [UInt8]
        let message: [UInt8]
        let code: String
    }

    static let vectors = [
        Vector(
            key: [UInt8](repeating: 0x0b, count: 20), message: [UInt8]("Hi There".utf8),
            code: "b0344c61d8db38535ca8afceaf0bf12b"),
        Vector(
            key: [UInt8]("Jefe".utf8), message: [UInt8]("what do ya want for nothing?".utf8),
            code: "5bdcc146bf60754e6a042426089575c7"),
        Vector(
            key: [UInt8](repeating: 0xaa, count: 20),
            message: [UInt8](repeating: 0xdd, count: 50),
            code: "773ea91e36800e46854db8ebd09181a7"),
        Vector(
            key: [UInt8](repeating: 0xaa, count: 131),
            message: [UInt8](
                "Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            code: "60e431591ee0b67f0d8a26aacbf5b77f"),
    ]

    @Test("the code of a message is that of RFC 4231", arguments: Self.vectors)
    func code(_ vector: Vector) {
        let hash = KeyedHash(key: vector.key)
        for _ in 0..<2 {
            let code = vector.message.withUnsafeBytes { hash.code(of: $0) }
            #expect(code.prefix(16).map { $0 } == KeyedHash.Value(code.prefix(16))?.bytes)
            #expect([UInt8](code.prefix(16)).hex == vector.code)
        }
    }

    @Test("tenant and subject are told apart, and the key counts")
    func fields() {
        func hash(_ key: UInt8, _ tenant: String, _ subject: String) -> KeyedHash.Value {
            tenant.withBytes { tenant in
                subject.withBytes { KeyedHash(key: [key])(tenant: tenant, subject: $0) }
            }
        }
        let hashes = [hash(1, "a", "bc"), hash(1, "ab", "c"), hash(2, "a", "bc"), hash(1, "a", "")]
        #expect(Set(hashes).count == hashes.count)
        #expect(hashes[0] == hash(1, "a", "bc"))
        #expect(String(decoding: hashes[0].text, as: UTF8.self) == hashes[0].bytes.hex)
        #expect(KeyedHash.Value(hashes[0].bytes) == hashes[0])
        #expect(KeyedHash.Value([UInt8](repeating: 1, count: 15)) == nil)
        #expect(KeyedHash.Value([UInt8](repeating: 1, count: 17)) == nil)
    }

    @Test("a key has as many bytes as a hash at least")
    func minKeyBytes() {
        let hash = "t".withBytes { KeyedHash(key: [1])(tenant: $0, subject: $0) }
        #expect(KeyedHash.minKeyBytes == hash.bytes.count)
    }

    @Test(
        "any event: with another subject all else is as it was, byte for byte in its order",
        arguments: ["", "s", String(repeating: "x", count: 256)])
    func subject(_ subject: String) throws {
        print("KeyedHashTests: SIGHTLINE_TEST_SEED=\(Dice.runSeed)")
        var generator = EventGenerator(seed: Dice.runSeed)
        var changed = 0
        for _ in 0..<20_000 {
            let bytes = generator.event()
            let change = bytes.withUnsafeBytes { event in
                try? SubjectChange(of: event, to: [UInt8](subject.utf8))
            }
            let replaced = change?.bytes
            // A field may be broken inside where only whole fields are looked at.
            guard let index = Self.index(of: bytes), let change,
                var expected = try? Sightline_V1_TrackingEvent(serializedBytes: bytes)
            else { continue }
            let actual = try Sightline_V1_TrackingEvent(serializedBytes: try #require(replaced))
            changed += expected.subjectID == subject ? 0 : 1
            expected.subjectID = subject
            #expect(actual == expected, "\(bytes.hex)")
            let size = try #require(replaced?.count)
            #expect(size <= bytes.count + subject.utf8.count + 3)
            // The index moves with its event: as if it had been made of the new bytes.
            #expect(index.moved(by: change) == Self.index(of: change.bytes), "\(bytes.hex)")
        }
        #expect(changed > 1000)
    }

    /// The index of an event; nil if the bytes are none.
    private static func index(of bytes: [UInt8]) -> EventIndex? {
        bytes.withUnsafeBytes { bytes in
            let event = try? JournalEvent(
                parsing: bytes, key: HitKey(high: 0, low: 0), kinds: [], warnings: [])
            return event?.index
        }
    }

    @Test("an admission that hashes subjects lets no rule, key or kept event see the id")
    func admission() throws {
        let hash = KeyedHash(key: [1, 2, 3])
        let id = "the-recipient's-own-id"
        let events = try [
            TestEvent.fcm(.opened) { $0.subjectID = id }, .inApp { $0.subjectID = id },
            .apns(.unspecified) { $0.subjectID = id },
        ].map { try $0.bytes() }
        let message = WireWriter.message { for event in events { $0.field(2, event) } }
        func admitted(_ admission: Admission) -> AdmittedRequest {
            message.withUnsafeBytes { bytes in
                admission.admit(
                    admission.read(bytes, shape: .stream), bytes: bytes.count, tenant: "t",
                    receiveTime: 1_800_000_000_000_000, keeps: .all)
            }
        }
        let (plain, hashed) = (admitted(Admission()), admitted(Admission(subjects: hash)))
        #expect(plain.acceptedEvents.count == 2 && hashed.acceptedEvents.count == 2)
        #expect(hashed.refusals.map(\.judgement.line) == plain.refusals.map(\.judgement.line))
        // A push is known by its message, an in-app event by its recipient too.
        #expect(hashed.acceptedEvents[0].key == plain.acceptedEvents[0].key)
        #expect(hashed.acceptedEvents[1].key != plain.acceptedEvents[1].key)
        for (request, count) in [(plain, 0), (hashed, 1)] {
            for bytes in [request.entries, request.keptEvents] {
                #expect(bytes.firstRange(of: id.utf8) == nil ? count == 1 : count == 0)
            }
        }
        let text = "t".withBytes { tenant in
            id.withBytes { hash(tenant: tenant, subject: $0).text }
        }
        #expect(hashed.entries.firstRange(of: text) != nil)
    }
}
