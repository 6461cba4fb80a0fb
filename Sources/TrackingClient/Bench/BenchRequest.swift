// A request that is encoded once and sent again and again: its ids are patched in place, so that
// every hit is new and a request costs the sender next to nothing.
internal import SwiftProtobuf
internal import Synchronization

/// Gives numbers that no other event of this run has, and hardly any of another run.
final class BenchIDs: Sendable {
    private let next: Atomic<UInt64>

    /// 24 random bits name the run; the other 40 count its events.
    init(run: UInt32 = .random(in: 0..<1 << 24)) {
        self.next = Atomic(UInt64(run) << 40)
    }

    /// The first of `count` numbers in a row.
    func take(_ count: Int) -> UInt64 {
        self.next.wrappingAdd(UInt64(truncatingIfNeeded: count), ordering: .relaxed).oldValue
    }
}

/// The bytes of one request, ready to be numbered.
struct BenchRequest: Sendable {
    /// Events in it.
    let eventCount: Int
    /// Room before the events for a sequence of any length: a tag and ten bytes at most.
    private static let headroom = 11
    private static let sequenceTag: UInt8 = 1 << 3
    private static let eventsTag: UInt8 = 2 << 3 | 2

    private var bytes: [UInt8]
    private var start = Self.headroom
    /// Where each event's 16 digits stand: two places for an event.
    private let places: [Int]

    /// A request of `count` events, the first of which stands at `place` in the mix.
    init(_ plan: BenchPlan, count: Int, place: Int = 0, seconds: Int64) throws {
        var encoded: [BenchEvents.Kind: [UInt8]] = [:]
        var bytes = [UInt8](repeating: 0, count: Self.headroom)
        var places: [Int] = []
        let placeholder = [UInt8](BenchEvents.placeholder.utf8)
        for index in 0..<count {
            let kind = BenchEvents.kind(at: place &+ index, of: plan.mix)
            let event =
                try encoded[kind]
                ?? BenchEvents.encoded(kind, size: plan.eventBytes, seconds: seconds)
            encoded[kind] = event
            bytes.append(Self.eventsTag)
            bytes.appendVarint(UInt64(event.count))
            for offset in event.indices where event[offset...].starts(with: placeholder) {
                places.append(bytes.count + offset)
            }
            bytes += event
        }
        self.eventCount = count
        self.bytes = bytes
        self.places = places
    }

    /// The message, as long as nothing else holds the bytes while it is numbered again.
    var message: ArraySlice<UInt8> { self.bytes[self.start...] }

    /// Numbers the request, and its events from `firstID` on.
    mutating func number(sequence: UInt64, firstID: UInt64) {
        var header: [UInt8] = [Self.sequenceTag]
        header.appendVarint(sequence)
        self.start = Self.headroom - header.count
        self.bytes.replaceSubrange(self.start..<Self.headroom, with: header)
        let places = self.places
        self.bytes.withUnsafeMutableBytes { bytes in
            for (index, place) in places.enumerated() {
                let id = firstID &+ UInt64(truncatingIfNeeded: index / 2)
                let digits = (Self.digits(id >> 32).bigEndian, Self.digits(id).bigEndian)
                bytes.storeBytes(of: digits.0, toByteOffset: place, as: UInt64.self)
                bytes.storeBytes(of: digits.1, toByteOffset: place + 8, as: UInt64.self)
            }
        }
    }

    /// The low 32 bits as eight hexadecimal digits, the first in the highest byte: all at once,
    /// since this is done twice for every event.
    private static func digits(_ number: UInt64) -> UInt64 {
        var spread = (number & 0xffff_0000) << 16 | number & 0xffff
        spread = spread << 8 & 0x00ff_0000_00ff_0000 | spread & 0x0000_00ff_0000_00ff
        spread = spread << 4 & 0x0f00_0f00_0f00_0f00 | spread & 0x000f_000f_000f_000f
        let isLetter = (spread &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (spread | 0x3030_3030_3030_3030) &+ isLetter &* 0x27
    }
}

extension [UInt8] {
    fileprivate mutating func appendVarint(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            self.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        self.append(UInt8(truncatingIfNeeded: value))
    }
}
