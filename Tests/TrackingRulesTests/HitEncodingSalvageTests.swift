// Salvaging what can be read of a damaged payload.

internal import SightlineProtos
internal import TestSupport
internal import Testing
@testable internal import TrackingRules
@testable internal import W3CTrace

struct HitEncodingSalvageTests {
    private static let trace = TraceContext(
        traceID: TraceContext.TraceID(high: 1, low: 2), spanID: 3, isSampled: true,
        tracestate: "vendor=1")

    /// A block of three events, of which the first gives two hits.
    private static func block() throws -> (bytes: [UInt8], entryOffsets: [Int]) {
        let events = try [
            TestEvent.apns(.opened), .fcm(.received) { $0.push.product = .classic },
            .inApp { $0.inApp.appData = ["key": "välue"] },
        ].map { try $0.bytes() }
        let bytes = WireWriter.message { for event in events { $0.field(2, event) } }
        let admitted = AdmittedRequest.of(bytes: bytes, tenant: "t")
        let header = HitEncoding.header(
            entryCount: admitted.acceptedEvents.count, entriesBytes: admitted.entries.count,
            receiveTime: TestEvent.now, tenant: "t", trace: Self.trace)
        return (
            header + admitted.entries,
            admitted.acceptedEvents.map { header.count + Int($0.entryOffset) }
        )
    }

    /// The kinds of the hits that were read, and the rest.
    private static func salvage(_ payload: [UInt8]) -> (kinds: [HitKind], rest: [UInt8]) {
        var kinds: [HitKind] = []
        let rest = payload.withUnsafeBytes { payload in
            HitEncoding.salvage(payload) { kinds.append($0.kind) }
        }
        return (kinds, rest)
    }

    private static let all: [HitKind] = [.click, .open, .impression, .inAppImpression]

    @Test("Of a whole payload nothing is left over")
    func whole() throws {
        let (block, _) = try Self.block()
        for payload in [[], block, block + block] {
            let (kinds, rest) = Self.salvage(payload)
            #expect(kinds.count == payload.count / block.count * 4 && rest == [])
        }
    }

    @Test("An entry of a kind or product that is not known is left over, readable for who knows it")
    func strange() throws {
        let (block, offsets) = try Self.block()
        for (place, bit) in [(HitEncoding.kindsOffset, 1), (HitEncoding.factsOffset, 0x40)] {
            var payload = block
            payload[offsets[1] + place] ^= UInt8(bit)
            let (kinds, rest) = Self.salvage(payload + block)
            #expect(kinds == [.click, .open, .inAppImpression] + Self.all)
            var mended = rest
            let entry = payload[offsets[1]...].prefix(HitEncoding.entryBytes)
            let start = try #require(rest.indices.last { rest[$0...].starts(with: entry) })
            mended[start + place] ^= UInt8(bit)
            #expect(Self.salvage(mended).kinds == [.impression])
            #expect(Self.salvage(rest).rest == rest)
        }
    }

    @Test("A hit that is of no use is left over with its entry")
    func useless() throws {
        struct Useless: Error {}
        let (block, _) = try Self.block()
        var kinds: [HitKind] = []
        let rest = block.withUnsafeBytes { payload in
            HitEncoding.salvage(payload) { hit in
                guard hit.kind != .impression else { throw Useless() }
                kinds.append(hit.kind)
            }
        }
        #expect(kinds == [.click, .open, .inAppImpression])
        #expect(Self.salvage(rest).kinds == [.impression])
    }

    @Test("Wherever a payload is cut, the entries before are read and the bytes behind are kept")
    func cut() throws {
        let (block, offsets) = try Self.block()
        for length in block.indices {
            let (kinds, rest) = Self.salvage(Array(block.prefix(length)))
            // The block's length exceeds the bytes, so its end is unknown.
            #expect(kinds == [] && rest == Array(block.prefix(length)))
        }
        for length in offsets[0]..<block.count {
            // The block ends with the bytes, but its last entry exceeds it.
            var payload = Array(block.prefix(length))
            HitEncoding.setEntries(count: 3, bytes: length - offsets[0], in: &payload, at: 0)
            let (kinds, rest) = Self.salvage(payload + block)
            let read = offsets.dropFirst().count { $0 <= length }
            #expect(kinds == Array(Self.all.prefix([0, 2, 3][read])) + Self.all)
            #expect(Array(rest.dropFirst(offsets[0])) == Array(payload[offsets[read]...]))
        }
    }
}
