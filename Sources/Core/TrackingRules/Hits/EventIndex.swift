// The index of an event's parts, stored with it.
internal import WireFormat

/// Where the names are in an event's bytes, and when it happened. Admission writes it with the
/// event; filters, masks, sinks and replays read slices by it and never parse the event again.
///
/// It is stored before the event in 32 bytes: `occurTime` (8), then `app`, `delivery`, `broadlog`,
/// `subject`, `action` and `campaign` (4 each).
package struct EventIndex: Sendable, Equatable {
    /// The time of the event in microseconds since 1970, or `noTime`.
    private var time = Self.noTime
    /// The app's bundle id or package name.
    private(set) var app = EventSlice.none
    /// deliveryId, or an in-app message's message id. For a raw payload it is in the appended field
    /// `raw_ids`.
    private(set) var delivery = EventSlice.none
    /// broadlogId; appended like `delivery`. Absent for an in-app message.
    private(set) var broadlog = EventSlice.none
    /// The recipient's id.
    private(set) var subject = EventSlice.none
    /// The action button's identifier, or the label of an in-app message's button.
    private(set) var action = EventSlice.none
    /// The name of an in-app message's campaign.
    private(set) var campaign = EventSlice.none

    /// The bytes of a stored index.
    package static let byteCount = 32
    private static let noTime = Int64.min
    /// The years 1 to 9999, as Timestamp has them.
    private static let times: ClosedRange<Int64> = -62_135_596_800_000_000...253_402_300_799_999_999

    /// The time of the event in microseconds since 1970; nil if the event has none.
    var occurTime: Int64? { self.time == Self.noTime ? nil : self.time }

    /// An index whose parts are all absent.
    init() {}

    /// The index of an event that was parsed.
    ///
    /// - Parameters:
    ///   - ids: the two ids if they are parts of the event; absent if `setRawIDs` follows.
    ///   - subject: the recipient's id if it is a part of the event; absent if `moved` follows.
    ///   - slicer: makes slices of the event's bytes; it records if a part does not fit.
    @inline(__always)
    init(
        _ event: EventView, ids: (delivery: Bytes, broadlog: Bytes), subject: Bytes,
        _ slicer: inout EventSlicer
    ) {
        if let time = event.occurTime, !time.isZero, let microseconds = time.microseconds {
            self.time = microseconds
        }
        self.app = slicer.slice(event.appID)
        self.delivery = slicer.slice(ids.delivery)
        self.broadlog = slicer.slice(ids.broadlog)
        self.subject = slicer.slice(subject)
        self.action = slicer.slice(event.chosenAction)
        // Empty unless the event is an in-app message's.
        self.campaign = slicer.slice(event.inApp.campaignName)
    }

    /// Sets where the ids of a raw payload are, behind the event.
    mutating func setRawIDs(delivery: EventSlice, broadlog: EventSlice) {
        (self.delivery, self.broadlog) = (delivery, broadlog)
    }

    /// The index after the event's subject was removed or changed.
    func moved(by change: SubjectChange) -> EventIndex {
        var index = self
        index.app = self.app.moved(by: change.removed)
        index.delivery = self.delivery.moved(by: change.removed)
        index.broadlog = self.broadlog.moved(by: change.removed)
        index.subject = change.subject
        index.action = self.action.moved(by: change.removed)
        index.campaign = self.campaign.moved(by: change.removed)
        return index
    }

    // MARK: The stored form

    /// The stored fields, in order.
    @inline(__always)
    var stored: (Int64, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) {
        (
            self.time.littleEndian, self.app.rawValue.littleEndian,
            self.delivery.rawValue.littleEndian, self.broadlog.rawValue.littleEndian,
            self.subject.rawValue.littleEndian, self.action.rawValue.littleEndian,
            self.campaign.rawValue.littleEndian
        )
    }

    /// Reads the index at `offset` in `bytes`, which must have room for it; nil if a slice of it is
    /// outside an event of `eventBytes` bytes.
    @inline(__always)
    init?(at offset: Int, in bytes: Bytes, eventBytes: Int) {
        func slice(_ number: Int) -> EventSlice {
            let bits = bytes.loadUnaligned(
                fromByteOffset: offset &+ 8 &+ 4 &* number, as: UInt32.self)
            return EventSlice(rawValue: UInt32(littleEndian: bits))
        }
        self.time = Int64(
            littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int64.self))
        self.app = slice(0)
        self.delivery = slice(1)
        self.broadlog = slice(2)
        self.subject = slice(3)
        self.action = slice(4)
        self.campaign = slice(5)
        let ends = max(
            max(self.app.end, self.delivery.end, self.broadlog.end),
            max(self.subject.end, self.action.end, self.campaign.end))
        guard ends <= eventBytes, self.time == Self.noTime || Self.times.contains(self.time) else {
            return nil
        }
    }
}
