// Slices: parts of an event as offset and length.
internal import WireFormat

/// A part of an event's bytes: its offset in the upper 20 bits, its length in the lower 12. An
/// absent or empty part is 0.
package struct EventSlice: Sendable, Equatable {
    /// The number that is stored.
    package let rawValue: UInt32

    /// The highest offset. An event has at most `limits.event_bytes`, which with the ids of a raw
    /// payload behind it is less.
    static let maxOffset = 1 << 20 - 1
    /// The greatest length: sixteen times that of a name.
    static let maxLength = 1 << 12 - 1
    /// An absent part.
    static let none = EventSlice(rawValue: 0)

    /// A stored slice. It may be outside its event: check it before use.
    init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The slice of a part; nil if its length or offset is too large.
    @inline(__always)
    package init?(offset: Int, length: Int) {
        guard UInt(bitPattern: offset) <= UInt(Self.maxOffset),
            UInt(bitPattern: length) <= UInt(Self.maxLength)
        else { return nil }
        self.rawValue = UInt32(truncatingIfNeeded: offset &<< 12 | length)
    }

    /// The first byte's offset.
    var offset: Int { Int(self.rawValue &>> 12) }

    /// The number of bytes.
    var length: Int { Int(self.rawValue & 0xfff) }

    /// The offset behind the last byte.
    @inline(__always)
    var end: Int { self.offset &+ self.length }

    /// The slice after ranges of the event were removed; absent if it overlaps one of them.
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

/// Makes the slices of an event from pointers to its parts.
struct EventSlicer {
    private let start: UnsafeRawPointer?
    /// Whether every part that `slice` was called with fits into a slice.
    private(set) var fits = true

    /// - Parameter event: the bytes in which the parts lie.
    init(_ event: Bytes) { self.start = event.baseAddress }

    /// The slice of a part that has to be stored: clears `fits` if it does not fit.
    @inline(__always)
    mutating func slice(_ part: Bytes) -> EventSlice {
        if part.isEmpty { return .none }
        guard let slice = self.found(part) else {
            self.fits = false
            return .none
        }
        return slice
    }

    /// The slice of a part that is useless if it does not fit: absent then.
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
    /// The bytes of a slice, which must be within the event.
    @inline(__always)
    func part(_ slice: EventSlice) -> Bytes {
        Bytes(rebasing: self[slice.offset..<slice.end])
    }
}
