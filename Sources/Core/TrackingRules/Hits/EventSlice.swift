// Parts of an event, told by where they stand in its bytes.
internal import WireFormat

/// A part of an event's bytes: its offset in the upper 20 bits, its length in the lower 12. An
/// absent or empty part is 0.
package struct EventSlice: Sendable, Equatable {
    /// The number that is stored.
    package let rawValue: UInt32

    /// An event of `limits.event_bytes` at most, with a raw payload's ids behind it, is shorter.
    static let maxOffset = 1 << 20 - 1
    /// Sixteen times what a name may have.
    static let maxLength = 1 << 12 - 1
    /// An absent part.
    static let none = EventSlice(rawValue: 0)

    /// A slice that was stored, and need not be within an event.
    init(rawValue: UInt32) { self.rawValue = rawValue }

    /// A part; nil if it is longer or further from the start than a slice can say.
    @inline(__always)
    package init?(offset: Int, length: Int) {
        guard UInt(bitPattern: offset) <= UInt(Self.maxOffset),
            UInt(bitPattern: length) <= UInt(Self.maxLength)
        else { return nil }
        self.rawValue = UInt32(truncatingIfNeeded: offset &<< 12 | length)
    }

    /// Where it begins, in bytes.
    var offset: Int { Int(self.rawValue &>> 12) }

    /// Its bytes.
    var length: Int { Int(self.rawValue & 0xfff) }

    /// Where it ends.
    @inline(__always)
    var end: Int { self.offset &+ self.length }

    /// The slice once ranges of the event were taken out; none if it is partly in one of them.
    ///
    /// - Parameter removed: in ascending order.
    func moved(by removed: [Range<Int>]) -> EventSlice {
        var shift = 0
        for range in removed where range.lowerBound < self.end {
            guard range.upperBound <= self.offset else { return .none }
            shift += range.count
        }
        return EventSlice(rawValue: self.rawValue &- UInt32(truncatingIfNeeded: shift &<< 12))
    }
}

/// Finds the slices of an event by where its parts lie in memory.
struct EventSlicer {
    private let start: UnsafeRawPointer?
    /// Whether every part that was asked for by `slice` can be told by a slice.
    private(set) var fits = true

    /// - Parameter event: the bytes in which the parts lie.
    init(_ event: Bytes) { self.start = event.baseAddress }

    /// The slice of a part that has to be stored.
    @inline(__always)
    mutating func slice(_ part: Bytes) -> EventSlice {
        if part.isEmpty { return .none }
        guard let slice = self.found(part) else {
            self.fits = false
            return .none
        }
        return slice
    }

    /// The slice of a part that is of no use where it is too long to be told.
    @inline(__always)
    func sliceIfShort(_ part: Bytes) -> EventSlice {
        part.isEmpty ? .none : self.found(part) ?? .none
    }

    @inline(__always)
    private func found(_ part: Bytes) -> EventSlice? {
        guard let start, let first = part.baseAddress else { return nil }
        return EventSlice(offset: first - start, length: part.count)
    }
}

extension UnsafeRawBufferPointer {
    /// The part that a slice tells, which must be within the bytes.
    @inline(__always)
    func part(_ slice: EventSlice) -> Bytes {
        Bytes(rebasing: self[slice.offset..<slice.end])
    }
}
