internal import SwiftProtobuf
internal import Synchronization

/// Assigns numbers that are unique in this run, and very likely across runs.
final class BenchIDs: Sendable {
    private let next: Atomic<UInt64>

    /// 24 random bits identify the run; 40 bits count its events.
    init(run: UInt32 = .random(in: 0..<1 << 24)) {
        self.next = Atomic(UInt64(run) << 40)
    }

    /// Reserves `count` consecutive numbers; returns the first.
    func take(_ count: Int) -> UInt64 {
        self.next.wrappingAdd(UInt64(truncatingIfNeeded: count), ordering: .relaxed).oldValue
    }
}

/// A request that is encoded once. Patching its ids in place makes every hit new at almost no cost.
struct BenchRequest: Sendable {
    /// Events in it.
    let eventCount: Int
    /// Space in front of the events for a sequence of any length: a tag and up to ten bytes.
    private static let headroom = 11
    private static let sequenceTag: UInt8 = 1 << 3
    private static let eventsTag: UInt8 = 2 << 3 | 2

    private var bytes: [UInt8]
    private var start = Self.headroom
    /// The offsets of the events' digits, two per event.
    private let places: [Int]

    /// Creates a request of `count` events, beginning at index `place` of the mix.
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

    /// The encoded message. Release it before `number` is called again, which would copy the bytes
    /// otherwise.
    var message: ArraySlice<UInt8> { self.bytes[self.start...] }

    /// Writes the sequence, and the events' ids from `firstID` on.
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

    /// The low 32 bits as eight hexadecimal digits, the first in the highest byte. Computed without
    /// a loop, since it runs twice per event.
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
