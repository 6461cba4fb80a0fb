package import WireFormat

/// A TrackingEvent parsed in place: the fields that the rules read, as slices of the request.
/// Absent strings are empty. Enums are the numbers on the wire, which may be unknown ones.
package struct EventView {
    /// The whole event, including unknown fields.
    package var bytes: Bytes

    /// The client's id of the event.
    package var eventID = Bytes.none
    /// The time of the event; nil if the field is absent.
    package var occurTime: OccurTime?
    /// The app's bundle id or package name.
    package var appID = Bytes.none
    /// The platform as a number of the proto enum.
    package var platform: Int32 = 0
    /// The recipient's opaque id.
    package var subjectID = Bytes.none
    /// Whether the bytes have another subject before this one: it does not count, and identifies
    /// somebody all the same.
    private(set) var hasFormerSubject = false
    /// The consent as a number of the proto enum.
    package var consent: Int32 = 0
    /// The app's version.
    package var appVersion = Bytes.none
    /// The operating system's version.
    package var osVersion = Bytes.none
    /// The version of the SDK that reports.
    package var sdkVersion = Bytes.none
    /// How it reached the server, as a number of the proto enum. Before admission, whatever the
    /// client sent.
    package var source: Int32 = 0
    /// The event's own W3C traceparent.
    package var traceparent = Bytes.none
    /// The event's own W3C tracestate.
    package var tracestate = Bytes.none
    /// Which member of the `interaction` oneof is set.
    package var interaction = Interaction.none
    /// The push interaction. Each of these four views is empty unless `interaction` names it.
    package var push = PushView()
    /// The track action.
    package var trackAction = TrackActionView()
    /// The in-app interaction.
    package var inApp = InAppView()
    /// What a sender did with a push.
    package var pushSend = PushSendView()

    /// A Timestamp as sent, without range checks.
    package struct OccurTime: Equatable {
        /// Seconds since 1970.
        package var seconds: Int64 = 0
        /// Nanoseconds within the second.
        package var nanos: Int32 = 0

        /// Microseconds since 1970; nil outside the range of Timestamp (years 1 to 9999).
        package var microseconds: Int64? {
            guard (-62_135_596_800...253_402_300_799).contains(self.seconds),
                (0...999_999_999).contains(self.nanos)
            else { return nil }
            return self.seconds * 1_000_000 + Int64(self.nanos / 1000)
        }

        /// Whether it has the default value, which counts as absent (D41, D50).
        package var isZero: Bool { self.seconds == 0 && self.nanos == 0 }
    }

    /// The members of the `interaction` oneof. They carry no values: each `switch` would copy a
    /// value of 200 bytes, eleven times for an event.
    package enum Interaction {
        case none
        case push
        case trackAction
        case inApp
        case pushSend

        /// The member that a field of the event sets; nil if it sets none.
        init?(tag: UInt32) {
            typealias Field = FieldTag.TrackingEvent
            switch tag {
            case Field.push: self = .push
            case Field.trackAction: self = .trackAction
            case Field.inApp: self = .inApp
            case Field.pushSend: self = .pushSend
            default: return nil
            }
        }
    }

    /// Parses `bytes` as a TrackingEvent.
    ///
    /// - Parameter remainingDepth: how many levels may nest in the event; one less than a request's
    ///   if the event is part of one.
    /// - Throws: `WireError` if the bytes are not a TrackingEvent.
    package init(
        _ bytes: Bytes, remainingDepth: Int = WireReader.maxDepth
    ) throws(WireError) {
        typealias Field = FieldTag.TrackingEvent
        #if DEBUG
        EventParses.note(bytes)
        #endif
        self.bytes = bytes
        var reader = WireReader(bytes, remainingDepth: remainingDepth)
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.eventID: self.eventID = try reader.string()
            case Field.occurTime: try self.mergeOccurTime(try reader.message())
            case Field.appID: self.appID = try reader.string()
            case Field.platform: self.platform = try reader.int32()
            case Field.subjectID:
                if !self.subjectID.isEmpty { self.hasFormerSubject = true }
                self.subjectID = try reader.string()
            case Field.consent: self.consent = try reader.int32()
            case Field.traceContext: try self.mergeTraceContext(try reader.message())
            case Field.push:
                try self.begin(.push)
                try self.push.merge(try reader.message())
            case Field.trackAction:
                try self.begin(.trackAction)
                try self.trackAction.merge(try reader.message())
            case Field.inApp:
                try self.begin(.inApp)
                try self.inApp.merge(try reader.message())
            case Field.pushSend:
                try self.begin(.pushSend)
                try self.pushSend.merge(try reader.message())
            case Field.rawIDs: try self.mergeRawIDs(try reader.message())
            case Field.appVersion: self.appVersion = try reader.string()
            case Field.osVersion: self.osVersion = try reader.string()
            case Field.sdkVersion: self.sdkVersion = try reader.string()
            case Field.source: self.source = try reader.int32()
            default: try reader.skip(tag, in: Field.wireTypes)
            }
        }
    }

    private mutating func mergeOccurTime(_ reader: consuming WireReader) throws(WireError) {
        typealias Field = FieldTag.Timestamp
        var time = self.occurTime ?? OccurTime()
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.seconds: time.seconds = Int64(bitPattern: try reader.varint())
            case Field.nanos: time.nanos = try reader.int32()
            default: try reader.skip(tag, in: Field.wireTypes)
            }
        }
        self.occurTime = time
    }

    private mutating func mergeTraceContext(_ reader: consuming WireReader) throws(WireError) {
        typealias Field = FieldTag.TraceContext
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.traceparent: self.traceparent = try reader.string()
            case Field.tracestate: self.tracestate = try reader.string()
            default: try reader.skip(tag, in: Field.wireTypes)
            }
        }
    }

    // A oneof member that occurs again is merged; another member replaces it.

    private mutating func begin(_ interaction: Interaction) throws(WireError) {
        if self.interaction != .none, self.interaction != interaction { try self.replace() }
        self.interaction = interaction
    }

    private mutating func replace() throws(WireError) {
        try self.push.checkReplaced()
        self.push = PushView()
        self.trackAction = TrackActionView()
        self.inApp = InAppView()
        self.pushSend = PushSendView()
    }
}
