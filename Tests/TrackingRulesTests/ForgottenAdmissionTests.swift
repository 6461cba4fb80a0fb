// What admission records of those who were forgotten: nothing that names them.
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules
internal import WireFormat

struct ForgottenAdmissionTests {
    private static let (gone, other) = ("the-forgotten-one", "somebody-else")

    /// Who was forgotten, as a file remembers it: whatever `privacy.key_file` had then.
    private static func forgotten() -> ForgottenSubjects {
        let forgotten = ForgottenSubjects(key: [7])
        forgotten.insert(forgotten.hashes(of: [Self.gone], tenant: "t"))
        return forgotten
    }

    /// A push, an in-app event, a send, and a push that is refused, of each of the two.
    private static func admitted(
        _ admission: Admission, tenant: String = "t"
    ) throws -> AdmittedRequest {
        let events = try [Self.gone, Self.other].flatMap { id in
            try [
                TestEvent.fcm(.opened) { $0.subjectID = id }, .inApp { $0.subjectID = id },
                .send(.failed, .unregistered) { $0.subjectID = id },
                .apns(.unspecified) { $0.subjectID = id },
            ].map { try $0.bytes() }
        }
        let message = WireWriter.message { for event in events { $0.field(2, event) } }
        return message.withUnsafeBytes { bytes in
            admission.admit(
                admission.read(bytes, shape: .stream), bytes: bytes.count, tenant: tenant,
                receiveTime: TestEvent.now, keeps: .all)
        }
    }

    /// The ids that a subject has in the bytes of a tenant.
    private static func forms(_ id: String, _ hash: KeyedHash?) -> [[UInt8]] {
        let text = hash.map { hash in
            "t".withBytes { tenant in
                id.withBytes { hash(tenant: tenant, subject: $0).text }
            }
        }
        return [[UInt8](id.utf8)] + (text.map { [$0] } ?? [])
    }

    private static func holds(_ id: String, _ hash: KeyedHash?, _ request: AdmittedRequest) -> Bool
    {
        [request.entries, request.keptEvents].contains { bytes in
            Self.forms(id, hash).contains { bytes.firstRange(of: $0) != nil }
        }
    }

    @Test(
        "whoever was forgotten is recorded under no id, whichever key hashes ids by then",
        arguments: [nil, [1], [2, 3]] as [[UInt8]?])
    func admission(key: [UInt8]?) throws {
        let hash = key.map { KeyedHash(key: $0) }
        let before = try Self.admitted(Admission(subjects: hash))
        // The search finds an id where one is.
        #expect(Self.holds(Self.gone, hash, before) && Self.holds(Self.other, hash, before))
        let after = try Self.admitted(
            Admission(subjects: hash, forgotten: Self.forgotten()))
        #expect(!Self.holds(Self.gone, hash, after))
        #expect(Self.holds(Self.other, hash, after))
        // Nothing else is judged or counted in another way.
        #expect(after.acceptedEvents.map(\.key) == before.acceptedEvents.map(\.key))
        #expect(after.refusals.map(\.judgement.line) == before.refusals.map(\.judgement.line))
        #expect(before.refusals.map { $0.kept != nil } == [true, true])
        #expect(after.refusals.map { $0.kept != nil } == [false, true])
    }

    @Test(
        "of an event that names two recipients only the last is recorded, also if that is nobody",
        arguments: [nil, [1]] as [[UInt8]?], [Self.other, ""])
    func formerSubject(key: [UInt8]?, last: String) throws {
        let hash = key.map { KeyedHash(key: $0) }
        for event in [TestEvent.fcm(.opened), .apns(.unspecified)] {
            let former = WireWriter.message { $0.field(5, Self.gone) }
            let bytes = try former + event.bytes()
            let sent = bytes + WireWriter.message { $0.field(5, last) }
            #expect(sent.firstRange(of: Self.gone.utf8) != nil)
            let message = WireWriter.message { $0.field(2, sent) }
            let request = message.withUnsafeBytes { bytes in
                let admission = Admission(subjects: hash)
                return admission.admit(
                    admission.read(bytes, shape: .stream), bytes: bytes.count, tenant: "t",
                    receiveTime: TestEvent.now, keeps: .all)
            }
            #expect(request.acceptedEvents.count + request.refusals.count == 1)
            #expect(!Self.holds(Self.gone, hash, request))
            #expect(last.isEmpty || Self.holds(last, hash, request))
        }
    }

    @Test("the rest of a forgotten recipient's event is recorded, and its index leads to it")
    func index() throws {
        for key in [nil, [UInt8(1)]] {
            let hash = key.map { KeyedHash(key: $0) }
            let request = try Self.admitted(
                Admission(subjects: hash, forgotten: Self.forgotten()))
            var payload: [UInt8] = []
            #expect(request.appendSealed(to: &payload).events == 6)
            var subjects: [Bool] = []
            try payload.withUnsafeBytes { payload in
                try HitEncoding.forEachEvent(in: payload) { event, _ in
                    let parsed = try EventView(event.bytes)
                    #expect(event.deliveryID.elementsEqual(parsed.deliveryID))
                    #expect(event.subjectID.elementsEqual(parsed.subjectID))
                    subjects.append(!event.subjectID.isEmpty)
                }
            }
            #expect(subjects == [false, false, false, true, true, true])
        }
    }

    @Test("of another tenant the same id is recorded still")
    func tenants() throws {
        let request = try Self.admitted(
            Admission(forgotten: Self.forgotten()), tenant: "another")
        #expect(Self.holds(Self.gone, nil, request))
    }

    @Test("what is forgotten while events come in is left out from the next one on")
    func meanwhile() throws {
        let forgotten = ForgottenSubjects(key: [7])
        let admission = Admission(forgotten: forgotten)
        #expect(Self.holds(Self.gone, nil, try Self.admitted(admission)))
        forgotten.insert(forgotten.hashes(of: [Self.gone], tenant: "t"))
        #expect(!Self.holds(Self.gone, nil, try Self.admitted(admission)))
    }
}
