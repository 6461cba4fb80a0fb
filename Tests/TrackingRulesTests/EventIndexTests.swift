// The index that admission writes with each event: it leads to what the event's view has, and
// nothing in it is believed.
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingRules
internal import W3CTrace
internal import WireFormat

struct EventIndexTests {
    /// What an event says, copied out of its bytes.
    private struct Facts: Equatable {
        let texts: [[UInt8]]
        let platform: Platform?
        let product: Product
        let occurTime: Int64?

        init(_ event: EventView) {
            let action =
                event.interaction == .push
                ? event.push.actionIdentifier : event.inApp.actionText.cut(to: 256)
            self.texts = [
                event.appID, event.deliveryID, event.broadlogID, event.subjectID, action,
                event.inApp.campaignName,
            ].map { [UInt8]($0) }
            self.platform = event.effectivePlatform
            self.product = event.product
            self.occurTime = event.occurTime.flatMap { $0.isZero ? nil : $0.microseconds }
        }

        init(_ event: JournalEvent) {
            self.texts = [
                event.appID, event.deliveryID, event.broadlogID, event.subjectID, event.action,
                event.campaignName,
            ].map { [UInt8]($0) }
            self.platform = event.platform
            self.product = event.product
            self.occurTime = event.occurTime
        }
    }

    @Test("any event: what its index leads to is what a view of it has, also from a payload")
    func anyEvent() throws {
        print("EventIndexTests: SIGHTLINE_TEST_SEED=\(Dice.runSeed)")
        var generator = EventGenerator(seed: Dice.runSeed)
        var (compared, withAll) = (0, [Int](repeating: 0, count: 6))
        for index in 0..<20_000 {
            let bytes = generator.event()
            try bytes.withUnsafeBytes { bytes in
                guard let view = try? EventView(bytes) else { return }
                let event = try JournalEvent(
                    parsing: bytes, key: HitKey(high: 1, low: 2 << 8), kinds: HitKinds(.click),
                    warnings: .idNotHex)
                let expected = Facts(view)
                #expect(Facts(event) == expected, "seed \(Dice.runSeed), message \(index)")
                let payload = HitEncoding.payload(
                    of: event, receiveTime: 0, tenant: "t", trace: nil)
                try payload.withUnsafeBytes { payload in
                    try HitEncoding.forEachEvent(in: payload) { read, _ in
                        #expect(Facts(read) == expected, "seed \(Dice.runSeed), message \(index)")
                        #expect(read.key == event.key && read.kinds == event.kinds)
                        #expect(read.bytes.elementsEqual(bytes))
                    }
                }
                compared += 1
                for (place, text) in expected.texts.enumerated() where !text.isEmpty {
                    withAll[place] += 1
                }
            }
        }
        // A generator that makes one sort alone would prove nothing.
        #expect(compared > 4000 && withAll.allSatisfy { $0 > 100 }, "\(compared), \(withAll)")
    }

    private static let events: [TestEvent] = [
        TestEvent.apns(.opened) {
            $0.push.actionIdentifier = "reply"
            $0.subjectID = "somebody"
        },
        .fcm(.received) { $0.occurTime = .init(seconds: 1_799_999_999, nanos: 5000) },
        .action(.close),
        .inApp {
            $0.inApp.campaignName = "Spring"
            $0.inApp.click = .with {
                $0.actionURL = "app://sale"
                $0.actionText = "Buy"
            }
        },
        .raw(#"{"_dId":"56c4","_mId":"h138a"}"#, .ios) { $0.subjectID = "somebody" },
    ]

    /// The facts of the accepted events of a request, and those of their stored bytes.
    private static func facts(
        _ admission: Admission
    ) throws -> (admitted: [Facts], parsed: [Facts]) {
        let events = try Self.events.map { try $0.bytes() }
        let message = WireWriter.message { for event in events { $0.field(2, event) } }
        let request = message.withUnsafeBytes { bytes in
            admission.admit(
                admission.read(bytes, shape: .stream), bytes: bytes.count, tenant: "t",
                receiveTime: TestEvent.now)
        }
        var payload: [UInt8] = []
        #expect(request.appendSealed(to: &payload).events == Self.events.count)
        var (admitted, parsed) = ([Facts](), [Facts]())
        try payload.withUnsafeBytes { payload in
            try HitEncoding.forEachEvent(in: payload) { event, _ in
                admitted.append(Facts(event))
                parsed.append(Facts(try EventView(event.bytes)))
            }
        }
        return (admitted, parsed)
    }

    @Test("what admission writes is what parsing the stored event anew would find")
    func admitted() throws {
        let (admitted, parsed) = try Self.facts(Admission())
        #expect(admitted == parsed)
        let actions = admitted.map { String(decoding: $0.texts[4], as: UTF8.self) }
        #expect(actions == ["reply", "", "", "Buy", ""])
        #expect(admitted.map(\.platform) == [.ios, .android, nil, nil, .ios])
        #expect(admitted[1].occurTime == 1_799_999_999_000_005)
    }

    @Test("a hashed subject moves the rest of its event, and the index goes with it")
    func hashed() throws {
        let hash = KeyedHash(key: [1, 2, 3])
        let (hashed, parsed) = try Self.facts(Admission(subjects: hash))
        #expect(hashed == parsed)
        let (plain, _) = try Self.facts(Admission())
        let subjects = plain.map { facts in
            facts.texts[3].withUnsafeBytes { subject in
                subject.isEmpty
                    ? [] : "t".withBytes { hash(tenant: $0, subject: subject).text }
            }
        }
        #expect(hashed.map { $0.texts[3] } == subjects && subjects[0] != plain[0].texts[3])
        for (one, other) in zip(hashed, plain) {
            #expect(one.texts[..<3] == other.texts[..<3] && one.texts[4...] == other.texts[4...])
        }
    }

    @Test("an answer has the id and the trace of a hashed event")
    func answer() throws {
        let event = TestEvent.fcm(.opened) {
            $0.subjectID = "somebody"
            $0.traceContext.traceparent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
            $0.traceContext.tracestate = "a=b"
        }
        // The subject comes first, so that all else moves.
        var bytes: [UInt8] = []
        bytes.appendField(FieldTag.TrackingEvent.subjectID, [UInt8]("somebody else".utf8))
        bytes += try event.bytes()
        let message = WireWriter.message { $0.field(2, bytes) }
        for hash in [nil, KeyedHash(key: [1])] {
            let admission = Admission(subjects: hash)
            let request = message.withUnsafeBytes { bytes in
                admission.admit(
                    admission.read(bytes, shape: .stream), bytes: bytes.count, tenant: "t",
                    receiveTime: TestEvent.now)
            }
            let accepted = try #require(request.acceptedEvents.first)
            #expect(request.eventID(of: accepted) == event.eventID)
            let traces = request.eventTraces(limit: 9)
            #expect(traces.map(\.spanID) == [0x00f0_67aa_0ba9_02b7])
            #expect(traces.map(\.tracestate) == ["a=b"])
        }
    }

    @Test("an event that the journal cannot tell the parts of is refused, and no other with it")
    func tooLarge() throws {
        var limits = Limits()
        (limits.requestBytes, limits.eventBytes) = (.max, .max)
        let large = TestEvent.fcm(.opened) {
            $0.push.fcm.data.title = String(repeating: "t", count: 1 << 20)
            // It stands behind the title.
            $0.push.actionIdentifier = "reply"
        }
        let bytes = try [large, .apns(.opened)].map { try $0.bytes() }
        let message = WireWriter.message { for event in bytes { $0.field(2, event) } }
        let request = AdmittedRequest.of(bytes: message, rules: RuleSet(limits: limits))
        #expect(request.refusals.map(\.index) == [0])
        #expect(request.refusals.first?.judgement.line == "rejected: event too_large")
        #expect(request.acceptedEvents.map(\.index) == [1])
        #expect(throws: WireError.tooLarge) {
            try bytes[0].withUnsafeBytes { bytes in
                _ = try JournalEvent(
                    parsing: bytes, key: HitKey(high: 0, low: 0), kinds: [], warnings: [])
            }
        }
    }

    @Test("a part that ends one byte behind its event is damage, one that ends with it is none")
    func bounds() throws {
        let request = try AdmittedRequest.of([Self.events[0]])
        var payload: [UInt8] = []
        request.appendSealed(to: &payload)
        let event = try Self.events[0].bytes().count
        let start = payload.count - event - EventIndex.byteCount
        for part in 0..<6 {
            for (length, isDamaged) in [(5, false), (6, true)] {
                let slice = try #require(EventSlice(offset: event - 5, length: length))
                var bytes = payload
                bytes.withUnsafeMutableBytes {
                    $0.storeBytes(
                        of: slice.rawValue.littleEndian, toByteOffset: start + 8 + 4 * part,
                        as: UInt32.self)
                }
                #expect(Self.isDamaged(bytes) == isDamaged, "part \(part)")
            }
        }
    }

    @Test("a time that no Timestamp has, or a platform or product that is none, is damage")
    func values() throws {
        let request = try AdmittedRequest.of([Self.events[0]])
        var payload: [UInt8] = []
        request.appendSealed(to: &payload)
        let entry = payload.count - (try Self.events[0].bytes().count) - HitEncoding.entryBytes
        for (time, isDamaged) in [
            (Int64.min, false), (-62_135_596_800_000_000, false), (-62_135_596_800_000_001, true),
            (253_402_300_799_999_999, false), (253_402_300_800_000_000, true), (.max, true),
        ] {
            var bytes = payload
            bytes.withUnsafeMutableBytes {
                $0.storeBytes(
                    of: time.littleEndian, toByteOffset: entry + HitEncoding.indexOffset,
                    as: Int64.self)
            }
            #expect(Self.isDamaged(bytes) == isDamaged, "\(time)")
        }
        for facts in UInt8.min...UInt8.max {
            var bytes = payload
            bytes[entry + HitEncoding.factsOffset] = facts
            // The highest bit is the source's.
            let isKnown = (facts & 0x7f) >> 2 < 3 && facts & 3 < 3
            #expect(Self.isDamaged(bytes) != isKnown, "\(facts)")
        }
    }

    private static func isDamaged(_ payload: [UInt8]) -> Bool {
        do {
            try payload.withUnsafeBytes { try HitEncoding.forEachEvent(in: $0) { _, _ in } }
            return false
        } catch {
            return true
        }
    }
}
