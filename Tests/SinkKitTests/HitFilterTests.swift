// Filters of hits against a second implementation, which reads the records.
internal import Delivery
internal import SightlineProtos
@testable internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules

struct HitFilterTests {
    private typealias Values = [HitFilter.Field: [String]]

    /// Values that the events below have, and some that none of them has.
    private static let free: [HitFilter.Field: [String]] = [
        .tenant: ["default", "acme", "other"],
        .app: ["com.example.app", "", "com.example"],
        .delivery: ["56c4", "77", "welcome", "none"],
    ]

    private static func values(_ dice: inout Dice) -> Values {
        var values: Values = [:]
        for field in HitFilter.Field.allCases where Int.random(in: 0..<4, using: &dice) == 0 {
            let all = field.values ?? Self.free[field] ?? []
            values[field] = all.filter { _ in Bool.random(using: &dice) }
        }
        return values.filter { !$1.isEmpty }
    }

    private static func event(_ id: Int, _ dice: inout Dice) -> Sightline_V1_TrackingEvent {
        var event: Sightline_V1_TrackingEvent
        switch Int.random(in: 0..<6, using: &dice) {
        case 0: event = TestEvents.full(id: id)
        case 1: event = TestEvents.push(.opened, id: id, delivery: "77")
        case 2: event = TestEvents.action(.button2, id: id)
        case 3:
            event = TestEvents.action(.click, id: id, product: .classic)
            event.platform = .android
        case 4:
            event = .with { event in
                event.inApp.messageID = "welcome"
                event.inApp.click.actionURL = "app://sale"
                event.subjectID = "s\(id)"
                event.eventID = "e\(id)"
                event.platform = .ios
            }
        default: event = TestEvents.push(.opened, id: id, on: .ios)
        }
        if Bool.random(using: &dice) { event.appID = "com.example.app" }
        return event
    }

    /// Groups of several requests, of several tenants.
    private static func batch(_ dice: inout Dice) throws -> HitBatch {
        var id = 0
        let groups = try (1...3).map { sequence in
            var payload: [UInt8] = []
            for tenant in ["default", "acme"].shuffled(using: &dice) {
                id += 10
                let events = (0..<Int.random(in: 1...4, using: &dice)).map {
                    Self.event(id + $0, &dice)
                }
                let request = try TestHits.request(events, tenant: tenant)
                payload += request.block
            }
            let whole = HitBatch(journal: "j", sequence: Int64(sequence), payload: payload)
            return JournalBatch(
                sequence: whole.sequence, eventCount: whole.eventCount, hitCount: whole.hitCount,
                payload: payload)
        }
        return HitBatch(journal: "j", joining: groups)
    }

    @Test("any filter: the hits of any batch that pass, and where they were, as records tell")
    func property() throws {
        print("HitFilterTests: SIGHTLINE_TEST_SEED=\(Dice.runSeed)")
        var dice = Dice(seed: Dice.runSeed)
        var (passed, held) = (0, 0)
        for _ in 0..<300 {
            let batch = try Self.batch(&dice)
            let (only, not) = (Self.values(&dice), Self.values(&dice))
            let filter = HitFilter(only: only, not: not)
            let all = try batch.records
            let wanted = all.indices.filter { index in
                only.allSatisfy { $1.contains(all[index].value($0)) }
                    && not.allSatisfy { !$1.contains(all[index].value($0)) }
            }
            let filtered = try batch.filtered(by: filter)
            #expect(try filtered.records == wanted.map { all[$0] }, "\(only), not \(not)")
            #expect(try batch.positions(passing: filter) == wanted)
            #expect(filtered.hitCount == wanted.count)
            #expect(filtered.groups.map(\.sequence) == batch.groups.map(\.sequence))
            let events = try filtered.payload.withUnsafeBytes { payload in
                var count = 0
                try HitEncoding.forEachEvent(in: payload) { _, _ in count += 1 }
                return count
            }
            #expect(filtered.eventCount == events)
            passed += wanted.count
            held += all.count - wanted.count
        }
        // Filters that pass all or nothing would prove nothing.
        #expect(passed > 500 && held > 500, "\(passed) passed, \(held) did not")
    }

    @Test("a filter that takes everything gives the same bytes")
    func everything() throws {
        var dice = Dice(seed: Dice.runSeed)
        let batch = try Self.batch(&dice)
        let filtered = try batch.filtered(by: HitFilter(only: [:]))
        #expect(filtered.payload == batch.payload && filtered.groups == batch.groups)
    }
}

extension Sightline_V1_TrackingRecord {
    /// The value of a field; empty where there is none.
    fileprivate func value(_ field: HitFilter.Field) -> String {
        switch field {
        case .tenant: self.tenant
        case .app: self.event.appID
        case .delivery: self.deliveryID
        case .action: "\(self.campaignAction)"
        case .kind: HitKind(rawValue: UInt8(self.kind.rawValue)).map { "\($0.name)" } ?? ""
        case .platform: self.platform
        case .product: self.product
        }
    }

    private var platform: String {
        switch self.event.push.payload {
        case .apns: return "ios"
        case .fcm: return "android"
        case .raw, nil: break
        }
        switch self.event.platform {
        case .ios: return "ios"
        case .android: return "android"
        default: return ""
        }
    }

    private var product: String {
        let product: Sightline_V1_CampaignProduct
        switch self.event.interaction {
        case .push(let push): product = push.product
        case .trackAction(let action): product = action.product
        case .pushSend(let send): product = send.product
        default: return "firebase"
        }
        return product == .classic ? "classic" : "standard"
    }
}
